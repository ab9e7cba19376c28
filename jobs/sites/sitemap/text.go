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
	maxLine   = 3 * models.MaxURL // bytes that are kept of a line: a longer one is no URL
	patience  = 1000              // lines without any URL
	notAsText = "No line of this file is a URL, so it is not a sitemap"
)

// readText reads a text file with a URL on each line. Blank lines are ignored.
func (c *collector) readText(text *bufio.Reader) error {
	c.Kind, c.no = sites.KindText, 1
	var line []byte
	for {
		part, err := text.ReadSlice('\n')
		last := errors.Is(err, io.EOF)
		if err != nil && !last && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		for len(part) > 0 { // a carriage return alone ends a line, too
			end := bytes.IndexAny(part, "\r\n")
			if end < 0 {
				line = keep(line, part)
				break
			}
			if err := c.addLine(keep(line, part[:end])); err != nil {
				return err
			}
			line = line[:0]
			if part[end] == '\r' && end+1 < len(part) && part[end+1] == '\n' {
				end++
			}
			c.no++
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

// keep adds to a line what may still be part of a URL.
func keep(line, part []byte) []byte {
	return append(line, part[:min(len(part), maxLine-len(line))]...)
}

func (c *collector) addLine(line []byte) error {
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return nil
	}
	if err := c.add(line, models.Time{}); err != nil {
		return err
	}
	if c.Entries == 0 && c.Skipped >= patience {
		return c.notText()
	}
	return nil
}

// notText is the error of a file that has text, and no URLs.
func (c *collector) notText() error {
	c.Result, c.reasons = Result{}, nil
	return &Error{notAsText}
}
