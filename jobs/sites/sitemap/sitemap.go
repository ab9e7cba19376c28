// Package sitemap reads sitemaps as they arrive: XML sitemaps and sitemap indexes (sitemaps.org), text files with a URL on
// each line, and RSS and Atom feeds. It sends no requests and knows no database.
package sitemap

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode"

	"github.com/dustin/go-humanize"

	"linkwatch/models/sites"
)

// Result is what a file holds. After an error it tells what was read until then.
type Result struct {
	Kind    sites.Kind // KindUnread if the file is no sitemap
	Entries int        // that were passed on: pages, or sitemaps of an index
	Skipped int        // entries that were left out
	// Reasons are short lines that say why entries were skipped or lost their lastmod: the first five that differ.
	Reasons []string
	// Complete tells that all entries were seen. If it is false, a page that is missing here is not gone: the file
	// broke off, or it has more than sites.MaxSitemapURLs.
	Complete bool
}

// Error says what is wrong with a file. Its text is a short sentence for users and repeats nothing of the file.
type Error struct{ text string }

// Error implements error.
func (e *Error) Error() string { return e.text }

// Read reads a sitemap and calls each with every valid entry, in order, at most sites.MaxSitemapURLs times. For an index the
// entries are sitemaps. A bad entry is skipped and counted.
//
// The format is detected from the content, and so are gzip, UTF-16 and the encoding that an XML declaration names. At most
// sites.MaxSitemapBytes are read, decompressed, and memory is bounded by a few MB whatever the file holds.
//
// The error is an *Error if the file is no sitemap, is broken or is too large. What was passed on before remains valid. An error
// of each or of r is returned as it is.
func Read(r io.Reader, each func(sites.Kind, sites.Entry) error) (Result, error) {
	return readUpTo(sites.MaxSitemapBytes, r, each)
}

func readUpTo(limit int64, r io.Reader, each func(sites.Kind, sites.Entry) error) (Result, error) {
	file := open(r, limit)
	c := &collector{each: each}
	err := c.read(file)
	c.Reasons = c.lines()
	switch {
	case err == nil:
		c.Complete = !c.over
	case errors.Is(err, errTooLarge):
		err = c.brokenOff("The file is larger than 50 MB; it was read up to %s")
	case errors.Is(err, errGzip):
		err = c.brokenOff("The gzip data is broken after %s")
	}
	return c.Result, err
}

// brokenOff is an error about a file of which only the first entries were read.
func (c *collector) brokenOff(format string, args ...any) error {
	read := "1 entry"
	if c.Entries != 1 {
		read = humanize.Comma(int64(c.Entries)) + " entries"
	}
	return &Error{fmt.Sprintf(format, append([]any{read}, args...)...)}
}

// read detects the format and reads the file to its end.
func (c *collector) read(file *content) error {
	text, err := file.decode()
	if err != nil {
		return err
	}
	first, err := firstRune(text)
	if errors.Is(err, io.EOF) {
		return &Error{"The file is empty"}
	}
	if err != nil {
		return err
	}
	head, _ := text.Peek(512) // what is wrong shows when it is read
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		return &Error{"This is a gzip file inside a gzip file, not a sitemap"}
	case bytes.IndexByte(head, 0) >= 0:
		return &Error{"This is a binary file, not a sitemap"}
	case first == '{' || first == '[':
		return &Error{"This is JSON, not a sitemap"}
	case first == '<':
		err = newMarkup(c, text).read()
	default:
		err = c.readText(text)
	}
	if err != nil {
		return err
	}
	// A file can be too large or break off behind its entries, too. Garbage behind the gzip data is common and harmless.
	if _, err = io.Copy(io.Discard, file); errors.Is(err, errGzip) {
		return nil
	}
	return err
}

// firstRune skips white space and a byte order mark, and returns what follows without reading it.
func firstRune(text *bufio.Reader) (rune, error) {
	for {
		r, _, err := text.ReadRune()
		if err != nil {
			return 0, err
		}
		if !unicode.IsSpace(r) && r != '\ufeff' {
			return r, text.UnreadRune()
		}
	}
}
