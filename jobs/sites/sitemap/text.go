package sitemap

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"linkwatch/models"
	"linkwatch/models/sites"
)

const (
	maxLine            = 3 * models.MaxURL // stored bytes of a line; longer lines are not URLs
	maxLinesWithoutURL = 1000              // before a file is rejected
	noURLs             = "This text file has no URLs, so it is not a sitemap"
)

// readText reads a text file with one URL per line. Blank lines are ignored.
func (c *collector) readText(text *bufio.Reader) error {
	c.Kind, c.entryNumber = sites.KindText, 1
	var line []byte
	for {
		part, err := text.ReadSlice('\n')
		last := errors.Is(err, io.EOF)
		if err != nil && !last && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		for len(part) > 0 { // a single carriage return ends a line too
			end := bytes.IndexAny(part, "\r\n")
			if end < 0 {
				line = appendLimited(line, part)
				break
			}
			if err := c.addLine(appendLimited(line, part[:end])); err != nil {
				return err
			}
			line = line[:0]
			if part[end] == '\r' && end+1 < len(part) && part[end+1] == '\n' {
				end++
			}
			c.entryNumber++
			part = part[end+1:]
		}
		if last {
			break
		}
	}
	if err := c.addLine(line); err != nil {
		return err
	}
	if c.Entries == 0 {
		return c.notText()
	}
	return nil
}

// appendLimited appends to a line up to maxLine bytes.
func appendLimited(line, part []byte) []byte {
	return append(line, part[:min(len(part), maxLine-len(line))]...)
}

func (c *collector) addLine(line []byte) error {
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return nil
	}
	if err := c.add(line, models.Time{}); err != nil {
		return err
	}
	if c.Entries == 0 && c.Skipped >= maxLinesWithoutURL {
		return c.notText()
	}
	return nil
}

func (c *collector) notText() error {
	c.Result, c.reasons = Result{}, nil
	return &Error{noURLs}
}
