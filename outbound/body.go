package outbound

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"slices"
	"strings"
)

const firstPiece = 4 << 10 // bytes that room is made for at first

// body holds an answer decompressed, and ended by the cap or by Until. Reading stops there and the rest is never asked
// for, so that memory is bounded by MaxBytes whatever the server sends. It is kept here and nowhere else: Until has to
// see it as one piece, and what Colly would gather as well is a second copy of it.
type body struct {
	raw       io.Closer
	src       io.Reader
	left      int64 // bytes until the cap
	until     func([]byte) bool
	discard   bool
	stream    func(io.Reader) error // nil unless the answer is for it
	kept      []byte
	truncated bool
	done      bool
}

// newBody unpacks raw as the answer's header tells.
func newBody(raw io.ReadCloser, x *exchange, req *http.Request) (*body, error) {
	b := &body{raw: raw, src: raw, left: x.MaxBytes, until: x.Until, discard: x.Discard}
	if req.Method == http.MethodHead || x.status == http.StatusNotModified {
		return b, nil // it has the header of a body, but none
	}
	switch strings.ToLower(strings.TrimSpace(x.header.Get("Content-Encoding"))) {
	case "", "identity":
	case "gzip", "x-gzip":
		b.src = &unpacker{from: b.src, limit: x.MaxBytes, open: openGzip}
	case "deflate":
		b.src = &unpacker{from: b.src, limit: x.MaxBytes, open: openDeflate}
	default:
		return nil, &Error{Kind: KindProtocol, text: "unsupported content encoding"}
	}
	// A file that is itself compressed (sitemap.xml.gz) is unpacked too, under the same cap.
	kind := strings.ToLower(x.header.Get("Content-Type"))
	if strings.Contains(kind, "gzip") || strings.HasSuffix(strings.ToLower(req.URL.Path), ".xml.gz") {
		b.src = &unpacker{from: b.src, limit: x.MaxBytes, open: openGzip}
	}
	if x.status == http.StatusOK {
		b.stream = x.Stream
	} else if x.Stream != nil {
		b.left = min(b.left, PageLimit) // an error page, whose end only serves to keep the connection
	}
	return b, nil
}

// Read is called by Colly, in the middle of its exchange. It keeps the answer until the cap, Until or its end, and
// hands up an empty one.
func (b *body) Read([]byte) (int, error) {
	for !b.done {
		next := b.more
		switch {
		case b.stream != nil:
			next = b.pass
		case b.discard:
			next = b.drop
		}
		if err := next(); err != nil {
			return 0, err
		}
	}
	return 0, io.EOF
}

// drop reads the answer to its end or the cap and keeps nothing.
func (b *body) drop() error {
	n, err := io.Copy(io.Discard, io.LimitReader(b.src, b.left+1)) // io.Discard has a pool of buffers
	b.truncated = n > b.left || n == b.left && err != nil
	if b.done = b.truncated || err == nil; b.done {
		return nil
	}
	return err
}

// more keeps the next piece of the answer.
func (b *body) more() error {
	if len(b.kept) == cap(b.kept) { // twice as much, but not more than may come
		b.kept = slices.Grow(b.kept, int(min(max(firstPiece, int64(len(b.kept))), b.left+1)))
	}
	p := b.kept[len(b.kept):cap(b.kept)]
	if int64(len(p)) > b.left {
		p = p[:b.left+1] // one more than may be kept shows whether there is more
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

// Close closes the connection unless the answer was read to its end.
func (b *body) Close() error { return b.raw.Close() }

// unpacker decompresses from its first Read on. Input that is not compressed after all, or empty, passes as it is:
// servers label both wrongly.
type unpacker struct {
	from  io.Reader
	limit int64
	open  func(*bufio.Reader) (io.Reader, error)
	r     io.Reader
}

// Read decompresses. It never takes in much more than may come out: without that limit a small bomb of empty gzip
// members inside gzip would keep a core busy and give nothing.
func (u *unpacker) Read(p []byte) (int, error) {
	if u.r == nil {
		r, err := u.open(bufio.NewReader(io.LimitReader(u.from, u.limit+64<<10)))
		if err != nil {
			return 0, err
		}
		u.r = r
	}
	return u.r.Read(p)
}

func openGzip(r *bufio.Reader) (io.Reader, error) {
	if head, _ := r.Peek(2); len(head) < 2 || head[0] != 0x1f || head[1] != 0x8b { // RFC 1952, 2.3.1
		return r, nil
	}
	return gzip.NewReader(r)
}

// openDeflate accepts what RFC 9110 calls deflate, which is zlib, and what some servers send, which is bare deflate.
func openDeflate(r *bufio.Reader) (io.Reader, error) {
	head, _ := r.Peek(2)
	switch {
	case len(head) < 2:
		return r, nil
	case head[0]&0x0f == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0: // RFC 1950, 2.2
		return zlib.NewReader(r)
	}
	return flate.NewReader(r), nil
}
