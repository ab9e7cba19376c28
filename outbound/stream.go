package outbound

import "io"

// pass calls Request.Stream with the body and stores nothing.
func (b *body) pass() error {
	s := &stream{b: b}
	err := b.stream(s)
	b.done = true
	switch {
	case s.failed != nil: // Stream may have ignored it
		return s.failed
	case err != nil:
		return &Error{Kind: KindStream, text: "response body refused", err: err}
	}
	return nil
}

// stream is the body that Request.Stream reads.
type stream struct {
	b      *body
	end    error // returned by every later Read
	failed error // why the body ended early; nil = it did not
}

// Read returns bytes up to the limit. A body that continues or fails at the limit is truncated, without an error.
func (s *stream) Read(p []byte) (int, error) {
	if s.end != nil || len(p) == 0 {
		return 0, s.end
	}
	b := s.b
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1] // one byte over the limit shows whether there is more
	}
	n, err := b.src.Read(p)
	over := int64(n) > b.left
	n = int(min(int64(n), b.left))
	b.left -= int64(n)
	switch {
	case over || b.left == 0 && err != nil && err != io.EOF:
		b.truncated, err = true, io.EOF
	case err != nil && err != io.EOF:
		s.failed = err
	}
	s.end = err
	return n, err
}
