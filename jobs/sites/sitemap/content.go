package sitemap

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"regexp"
	"strings"

	"golang.org/x/net/html/charset"
)

const (
	bufferSize = 32 << 10
	inputSlack = 64 << 10 // bytes by which a compressed file may exceed its content
)

var (
	errTooLarge = errors.New("sitemap: file too large")
	errGzip     = errors.New("sitemap: broken gzip data")

	gzipMagic = []byte{0x1f, 0x8b} // RFC 1952, 2.3.1
	utf8BOM   = []byte("\ufeff")
	declared  = regexp.MustCompile(`^\s*<\?xml\s[^>]*?\sencoding\s*=\s*["']([^"'>\s]+)`)
)

// content is the decompressed content of a file, up to a limit.
type content struct {
	input   *input
	r       io.Reader
	gzipped bool
	left    int64 // bytes left until the limit
	err     error // of every further Read
}

// input is the file as received. It keeps its error, to tell a broken connection from broken gzip data.
type input struct {
	r   io.Reader
	err error
}

// Read implements io.Reader.
func (i *input) Read(p []byte) (int, error) {
	if i.err != nil {
		return 0, i.err
	}
	n, err := i.r.Read(p)
	i.err = err
	return n, err
}

func newContent(r io.Reader, limit int64) *content {
	in := &input{r: r}
	b := bufio.NewReader(io.LimitReader(in, limit+inputSlack)) // limits endless empty gzip members
	c := &content{input: in, r: b, left: limit}
	if head, _ := b.Peek(len(gzipMagic)); bytes.Equal(head, gzipMagic) {
		c.gzipped = true
		z, err := gzip.NewReader(b)
		if err != nil {
			c.err = c.gzipError()
		}
		c.r = z
	}
	return c
}

func (c *content) gzipError() error {
	if err := c.input.err; err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return errGzip
}

// Read implements io.Reader.
func (c *content) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	if int64(len(p)) > c.left+1 {
		p = p[:c.left+1] // one byte over the limit shows that the file is too large
	}
	n, err := c.r.Read(p)
	switch {
	case int64(n) > c.left:
		n, err = int(c.left), errTooLarge
	case err != nil && !errors.Is(err, io.EOF) && c.gzipped:
		err = c.gzipError()
	}
	c.left -= int64(n)
	c.err = err
	return n, err
}

// decode returns the content as UTF-8. Content declared as UTF-8 is not validated.
func (c *content) decode() (*bufio.Reader, error) {
	b := bufio.NewReaderSize(c, bufferSize)
	head, _ := b.Peek(1024) // errors show up when reading
	label := encoding(head)
	if label == "" {
		return b, nil
	}
	r, err := charset.NewReaderLabel(label, b)
	if err != nil {
		return nil, &Error{"The XML declaration has an unknown encoding; use UTF-8"}
	}
	return bufio.NewReaderSize(r, bufferSize), nil
}

// encoding returns the encoding of a file that starts with head; "" = UTF-8.
func encoding(head []byte) string {
	switch {
	case bytes.HasPrefix(head, utf8BOM):
		return ""
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}), bytes.HasPrefix(head, []byte{0, '<', 0}):
		return "utf-16be"
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{'<', 0}) && len(head) > 3 && head[3] == 0:
		return "utf-16le"
	}
	m := declared.FindSubmatch(head)
	if m == nil {
		return ""
	}
	switch label := strings.ToLower(string(m[1])); label {
	case "utf-8", "utf8", "utf-16", "utf-16le", "utf-16be", "ucs-2", "iso-10646-ucs-2": // a readable declaration cannot be UTF-16
		return ""
	default:
		return label
	}
}
