package outbound

import (
	"crypto/tls"
	"io"
	"net"
	"slices"
	"sync/atomic"
)

// headConn is a connection for HTTP/1. It repairs what browsers and curl accept but net/http refuses: faults in the head of
// a response (head.go), and in the lines of a chunked body (chunks.go). Responses without a fault pass unchanged,
// without a copy. After a repaired response the connection is closed, so its rest cannot be taken for another response.
type headConn struct {
	net.Conn
	below *conn                // the connection below TLS
	tls   *tls.ConnectionState // nil without TLS

	// next is the method of a request whose response has not begun; nil = none.
	next atomic.Pointer[string]

	// The rest belongs to the goroutine that reads.
	in     place // of the next byte
	method string
	part   []byte // incomplete head
	scan   headScan
	force  bool // a head before the next one was repaired
	body   chunks
	out    []byte // for the next calls of Read
	void   bool   // what follows out is not read
}

// place is a part of a response.
type place int

const (
	elsewhere place = iota // between two responses, or in a body that is not chunked
	atHead
	atChunks
)

// expect announces the response to a request with this method, before the request is sent.
func (c *headConn) expect(method *string) { c.next.Store(method) }

// Read implements net.Conn.
func (c *headConn) Read(p []byte) (int, error) {
	for len(c.out) == 0 {
		if c.void {
			return 0, io.EOF
		}
		n, err := c.Conn.Read(p)
		if n == 0 && len(c.part) == 0 {
			return 0, err
		}
		if method := c.next.Swap(nil); method != nil {
			c.in, c.method, c.part, c.scan, c.force = atHead, *method, nil, headScan{}, false
		}
		if n == 0 { // net/http reports that the head is incomplete, and asks again for the error
			c.out, c.part, c.in = c.part, nil, elsewhere
			break
		}
		out := c.pass(p[:n])
		if same(out, p[:n]) {
			return n, nil
		}
		c.out = out
	}
	n := copy(p, c.out)
	c.out = c.out[n:]
	return n, nil
}

// pass returns received bytes as net/http may read them: b itself if nothing is repaired, and nothing while the head is
// incomplete.
func (c *headConn) pass(b []byte) []byte {
	if len(c.part) > 0 {
		c.part = append(c.part, b...)
		b = c.part
	}
	var out []byte
	repaired := false
	for at := 0; at < len(b); {
		passed, n := c.passPart(b[at:])
		if !repaired && !same(passed, b[at:at+n]) {
			out, repaired = slices.Clone(b[:at]), true
		}
		if repaired {
			out = append(out, passed...)
		}
		at += n
	}
	if repaired {
		return out
	}
	return b
}

// passPart does the work of pass for the first n bytes of b, which is not empty: one head, or all bytes.
func (c *headConn) passPart(b []byte) (passed []byte, n int) {
	if c.in != atHead {
		return c.passBody(b), len(b)
	}
	if !c.scan.find(b) {
		if len(b) > headerLimit || c.scan.open && !startsHead(b) { // net/http refuses it
			c.part, c.in = nil, elsewhere
			return b, len(b)
		}
		if len(c.part) == 0 {
			c.part = slices.Clone(b)
		}
		return nil, len(b)
	}
	c.part = nil
	head := b[:c.scan.at]
	kind, valid := checkHead(head)
	passed = head
	if c.force = c.force || !valid; c.force {
		passed, kind = repairHead(head)
	}
	n = len(head)
	switch {
	case kind.informational:
		c.scan = headScan{}
	case kind.chunked && c.method != "HEAD":
		c.in, c.body = atChunks, chunks{}
	default:
		c.in, c.body = elsewhere, chunks{}
	}
	return passed, n
}

func (c *headConn) passBody(b []byte) []byte {
	if c.in != atChunks {
		return b
	}
	b = c.body.repair(b)
	c.void = c.body.repaired && c.body.in == chunkEnd
	return b
}

// same reports whether a and b are the same memory.
func same(a, b []byte) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }
