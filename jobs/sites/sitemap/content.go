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
	inputSlack = 64 << 10 // bytes that a compressed file may be longer than what it holds
)

var (
	errTooLarge = errors.New("sitemap: file too large")
	errGzip     = errors.New("sitemap: broken gzip data")

	gzipMagic = []byte{0x1f, 0x8b} // RFC 1952, 2.3.1
	utf8BOM   = []byte("\ufeff")
	declared  = regexp.MustCompile(`^\s*<\?xml\s[^>]*?\sencoding\s*=\s*["']([^"'>\s]+)`)
)

// content is a file decompressed and ended by errTooLarge.
type content struct {
	input  *input
	r      io.Reader
	packed bool
	left   int64 // bytes until the limit
	err    error // of every further Read
}

// input is the file as it arrives. It remembers its error, by which broken compression is told from a broken connection.
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

func open(r io.Reader, limit int64) *content {
	in := &input{r: r}
	b := bufio.NewReader(io.LimitReader(in, limit+inputSlack)) // members without content would never end
	c := &content{input: in, r: b, left: limit}
	if head, _ := b.Peek(len(gzipMagic)); bytes.Equal(head, gzipMagic) {
		c.packed = true
		z, err := gzip.NewReader(b)
		if err != nil {
			c.err = c.cause()
		}
		c.r = z
	}
	return c
}

// cause is why decompression failed.
func (c *content) cause() error {
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
		p = p[:c.left+1] // one more than is allowed shows whether there is more
	}
	n, err := c.r.Read(p)
	switch {
	case int64(n) > c.left:
		n, err = int(c.left), errTooLarge
	case err != nil && !errors.Is(err, io.EOF) && c.packed:
		err = c.cause()
	}
	c.left -= int64(n)
	c.err = err
	return n, err
}

// decode returns the content in UTF-8. Text that is said to be UTF-8 is not checked.
func (c *content) decode() (*bufio.Reader, error) {
	b := bufio.NewReaderSize(c, bufferSize)
	head, _ := b.Peek(1024) // what is wrong shows when it is read
	label := encoding(head)
	if label == "" {
		return b, nil
	}
	r, err := charset.NewReaderLabel(label, b)
	if err != nil {
		return nil, &Error{"The XML declaration names an unknown encoding; use UTF-8"}
	}
	return bufio.NewReaderSize(r, bufferSize), nil
}

// encoding is the one in which a file with this beginning is written; "" = UTF-8.
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
	case "utf-8", "utf8", "utf-16", "utf-16le", "utf-16be", "ucs-2", "iso-10646-ucs-2": // the declaration itself shows that it is not UTF-16
		return ""
	default:
		return label
	}
}
