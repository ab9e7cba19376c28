package outbound

import "io"

// pass hands the answer to Request.Stream and keeps nothing of it.
func (b *body) pass() error {
	s := &stream{b: b}
	err := b.stream(s)
	b.done = true
	switch {
	case s.failed != nil: // whatever Stream made of it
		return s.failed
	case err != nil:
		return &Error{Kind: KindStream, text: "response body refused", err: err}
	}
	return nil
}

// stream is an answer as Request.Stream reads it.
type stream struct {
	b      *body
	end    error // of every further Read
	failed error // why the answer broke off; nil = it did not
}

// Read returns received bytes, up to the cap. A body that continues or fails at the cap is truncated, which is no error.
func (s *stream) Read(p []byte) (int, error) {
	if s.end != nil || len(p) == 0 {
		return 0, s.end
	}
	b := s.b
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1] // one more than may pass shows whether there is more
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
