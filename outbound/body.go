package outbound

import (
	"io"
	"net/http"
	"slices"
	"strings"
)

const minBuffer = 4 << 10 // bytes

// body reads and decompresses a response body until MaxBytes, Until or its end, so memory is bounded by MaxBytes.
// Colly gets an empty body: a copy in Colly would double the memory.
type body struct {
	raw       io.Closer
	src       io.Reader
	left      int64 // bytes until the limit
	until     func([]byte) bool
	discard   bool
	stream    func(io.Reader) error // Request.Stream, for a final 200; otherwise nil
	kept      []byte
	truncated bool
	done      bool
}

// newBody returns a body that decompresses raw by its Content-Encoding, and by its type or URL if it is a gzip file.
func newBody(raw io.ReadCloser, x *exchange, req *http.Request) (*body, error) {
	b := &body{raw: raw, src: raw, left: x.MaxBytes, until: x.Until, discard: x.Discard}
	if req.Method == http.MethodHead || x.status == http.StatusNotModified {
		return b, nil // these have the header of a body, but no body
	}
	if err := b.decode(x.header.Values("Content-Encoding")); err != nil {
		return nil, err
	}
	// A compressed file (sitemap.xml.gz) is decompressed too, with the same limit.
	kind := strings.ToLower(x.header.Get("Content-Type"))
	if strings.Contains(kind, "gzip") || strings.HasSuffix(strings.ToLower(req.URL.Path), ".xml.gz") {
		b.decompress(openGzip)
	}
	if x.status == http.StatusOK {
		b.stream = x.Stream
	} else if x.Stream != nil {
		b.left = min(b.left, PageLimit) // an error page is read only to reuse the connection
	}
	return b, nil
}

// Read reads the whole body into b and returns io.EOF: Colly sees an empty body.
func (b *body) Read([]byte) (int, error) {
	for !b.done {
		next := b.grow
		switch {
		case b.stream != nil:
			next = b.pass
		case b.discard:
			next = b.skip
		}
		if err := next(); err != nil {
			return 0, err
		}
	}
	return 0, io.EOF
}

// skip reads the body to its end or the limit and keeps nothing.
func (b *body) skip() error {
	n, err := io.Copy(io.Discard, io.LimitReader(b.src, b.left+1)) // io.Discard reuses its buffers
	b.truncated = n > b.left || n == b.left && err != nil
	if b.done = b.truncated || err == nil; b.done {
		return nil
	}
	return err
}

// grow appends the next part of the body to kept.
func (b *body) grow() error {
	if len(b.kept) == cap(b.kept) { // double, but at most to the limit
		b.kept = slices.Grow(b.kept, int(min(max(minBuffer, int64(len(b.kept))), b.left+1)))
	}
	p := b.kept[len(b.kept):cap(b.kept)]
	if int64(len(p)) > b.left {
		p = p[:b.left+1] // one byte over the limit shows whether there is more
	}
	n, err := b.src.Read(p)
	over := int64(n) > b.left
	n = int(min(int64(n), b.left))
	b.left -= int64(n)
	b.kept = b.kept[:len(b.kept)+n]
	if over || b.left == 0 && err != nil && err != io.EOF {
		b.done, b.truncated = true, true
	}
	if b.until != nil && n > 0 && b.until(b.kept) {
		b.done = true
		b.truncated = b.truncated || err != io.EOF
	}
	if err == io.EOF {
		b.done = true
	}
	if b.done {
		return nil
	}
	return err
}

// Close closes the connection unless the body was read to its end.
func (b *body) Close() error { return b.raw.Close() }
