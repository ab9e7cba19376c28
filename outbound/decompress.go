package outbound

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

const (
	// maxEncodings is the maximum number of encodings that are removed from one body, as in curl.
	maxEncodings = 5
	// zstdWindow is the largest window that servers may use (RFC 9659, 3).
	zstdWindow = 8 << 20
	// zstdChecksum is the length of the checksum that may follow the last block (RFC 8878, 3.1.1).
	zstdChecksum = 4
	// compressedExtra is how much longer than its limit a body may be before it is decompressed.
	compressedExtra = 64 << 10
)

// decode removes the encodings of a Content-Encoding, the last one first (RFC 9110, 8.4). Some servers use encodings that
// the request does not accept. What names no compression, such as "utf-8" or "none", counts as identity, as in browsers.
func (b *body) decode(fields []string) error {
	if len(fields) == 0 { // nearly always
		return nil
	}
	n := 0
	for _, e := range slices.Backward(strings.Split(strings.Join(fields, ","), ",")) {
		var open func(*bufio.Reader) (io.Reader, error)
		switch strings.ToLower(strings.TrimSpace(e)) {
		case "gzip", "x-gzip":
			open = openGzip
		case "deflate":
			open = openDeflate
		case "br":
			open = openBrotli
		case "zstd":
			open = openZstd
		case "compress", "x-compress":
			return &Error{Kind: KindProtocol, text: "unsupported content encoding"}
		default:
			continue
		}
		if n++; n > maxEncodings {
			return &Error{Kind: KindProtocol, text: "too many content encodings"}
		}
		b.decompress(open)
	}
	return nil
}

// decompress adds a decompressor to the body.
func (b *body) decompress(open func(*bufio.Reader) (io.Reader, error)) {
	b.src = &decompressor{from: compressed{r: b.src, left: b.left + compressedExtra}, open: open}
}

// decompressor opens its source at the first Read. Input without the magic number of its format passes unchanged, because
// servers often declare a compression that the body does not have. As in browsers, what was decompressed counts if only the
// end of the stream is missing or damaged, or if other bytes follow it.
type decompressor struct {
	from compressed
	open func(*bufio.Reader) (io.Reader, error)
	r    io.Reader
}

// Read implements io.Reader.
func (d *decompressor) Read(p []byte) (n int, err error) {
	if d.r == nil {
		r, err := d.open(bufio.NewReader(&d.from))
		if err != nil {
			return 0, d.fault(err)
		}
		d.r = r
	}
	n, err = d.r.Read(p)
	if ended(err) && d.from.failed == nil {
		return n, io.EOF
	}
	return n, d.fault(err)
}

// fault returns the error of the source, or else one about the compression.
func (d *decompressor) fault(err error) error {
	switch {
	case err != nil && d.from.failed != nil: // some decompressors report the end of the stream instead
		return d.from.failed
	case err == nil, errors.Is(err, io.EOF):
		return err
	}
	return &Error{Kind: KindProtocol, text: "bad compression", err: err}
}

// ended reports whether an error is about the end of a compressed stream, or about what follows it.
func ended(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, gzip.ErrChecksum) || errors.Is(err, zlib.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, zstd.ErrMagicMismatch) ||
		err != nil && err.Error() == "brotli: excessive input" // the library does not export it
}

// compressed is the input of a decompressor. Its limit stops gzip members that are empty, which could keep a core busy
// without output.
type compressed struct {
	r      io.Reader
	left   int64 // bytes until the limit
	failed error // of r, except io.EOF
}

// Read implements io.Reader. At the limit it fails like a connection that is closed early.
func (c *compressed) Read(p []byte) (int, error) {
	if c.left <= 0 {
		c.failed = io.ErrUnexpectedEOF
		return 0, c.failed
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	if err != io.EOF {
		c.failed = err
	}
	return n, err
}

func openGzip(r *bufio.Reader) (io.Reader, error) {
	if head, _ := r.Peek(2); len(head) < 2 || head[0] != 0x1f || head[1] != 0x8b { // RFC 1952, 2.3.1
		return r, nil
	}
	return gzip.NewReader(r)
}

// openDeflate accepts zlib, which RFC 9110 calls deflate, and raw deflate, which some servers send.
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

// openBrotli returns a decompressor of a format without a magic number.
func openBrotli(r *bufio.Reader) (io.Reader, error) {
	if head, _ := r.Peek(1); len(head) == 0 {
		return r, nil
	}
	return brotli.NewReader(r), nil
}

func openZstd(r *bufio.Reader) (io.Reader, error) {
	if head, _ := r.Peek(4); string(head) != "\x28\xb5\x2f\xfd" { // RFC 8878, 3.1.1
		return r, nil
	}
	padding := strings.NewReader(strings.Repeat("\x00", zstdChecksum))
	// With a concurrency of 1 there are no goroutines to stop.
	d, err := zstd.NewReader(io.MultiReader(r, padding), zstd.IgnoreChecksum(true),
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindow))
	return &padded{d, padding}, err
}

// padded reads zstd that a checksum of zeros follows. The decoder passes the last block only after the checksum, which may be
// missing. In a stream that is cut within a block, the padding may count as content. That is zeros too, and is removed.
type padded struct {
	from    *zstd.Decoder
	padding *strings.Reader
}

// Read implements io.Reader.
func (p *padded) Read(b []byte) (int, error) {
	n, err := p.from.Read(b)
	if p.padding.Len() == zstdChecksum {
		return n, err
	}
	if err != nil {
		err = io.EOF
	}
	return len(bytes.TrimRight(b[:n], "\x00")), err
}
