// Package sitemap parses sitemaps as streams: XML sitemaps and sitemap indexes (sitemaps.org), text files with one URL per line,
// and RSS and Atom feeds. It does not access the network or the database.
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

// Result summarizes a file. After an error it covers what was read before.
type Result struct {
	Kind    sites.Kind // KindUnread if the file is not a sitemap
	Entries int        // pages, or sitemaps of an index
	Skipped int        // entries
	// Reasons are up to five different reasons for skipped entries or ignored dates.
	Reasons []string
	// Complete reports whether all entries were read. If not, a page that is missing in the result may still be in the file.
	Complete bool
}

// Error is a problem of a file. Its text is a short sentence for users without content of the file.
type Error struct{ text string }

// Error implements error.
func (e *Error) Error() string { return e.text }

// Read parses a sitemap and calls each for up to sites.MaxSitemapURLs valid entries, in order. The entries of an index are
// sitemaps. Invalid entries are skipped and counted.
//
// Read detects the format, gzip, UTF-16 and the encoding of an XML declaration from the content. It reads at most
// sites.MaxSitemapBytes after decompression, and needs only a few MB of memory.
//
// The error is an *Error if the file is not a sitemap, is damaged or too large; entries passed on before remain valid. Errors of
// each and r are returned unchanged.
func Read(r io.Reader, each func(sites.Kind, sites.Entry) error) (Result, error) {
	return readUpTo(sites.MaxSitemapBytes, r, each)
}

func readUpTo(limit int64, r io.Reader, each func(sites.Kind, sites.Entry) error) (Result, error) {
	file := newContent(r, limit)
	c := &collector{each: each}
	err := c.read(file)
	c.Reasons = c.reasonLines()
	switch {
	case err == nil:
		c.Complete = !c.tooMany
	case errors.Is(err, errTooLarge):
		err = c.partialError("The file is larger than 50 MB. Reading stopped after %s")
	case errors.Is(err, errGzip):
		err = c.partialError("The gzip data is damaged after %s")
	}
	return c.Result, err
}

func (c *collector) partialError(format string, args ...any) error {
	read := "1 entry"
	if c.Entries != 1 {
		read = humanize.Comma(int64(c.Entries)) + " entries"
	}
	return &Error{fmt.Sprintf(format, append([]any{read}, args...)...)}
}

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
	head, _ := text.Peek(512) // errors show up when reading
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		return &Error{"This is a gzip file inside a gzip file, not a sitemap"}
	case bytes.IndexByte(head, 0) >= 0:
		return &Error{"This is a binary file, not a sitemap"}
	case first == '{' || first == '[':
		return &Error{"This is JSON, not a sitemap"}
	case first == '<':
		err = newXMLReader(c, text).read()
	default:
		err = c.readText(text)
	}
	if err != nil {
		return err
	}
	// The file may be too large or damaged after its last entry too. Garbage after the gzip data is common and harmless.
	if _, err = io.Copy(io.Discard, file); errors.Is(err, errGzip) {
		return nil
	}
	return err
}

// firstRune skips white space and byte order marks, and returns the next rune without consuming it.
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
