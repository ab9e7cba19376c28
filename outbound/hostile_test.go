package outbound

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// peer is a malicious server. It never closes a connection, so the client has to.
type peer struct {
	url      string
	attacked chan struct{} // receives a value when the attack starts
	over     chan struct{} // closed when the client is done
}

// hostile starts a peer until the returned function is called, which fails the test if the client still has a
// connection. With protocols it uses TLS.
func hostile(t *testing.T, attack func(p *peer, conn net.Conn), protocols ...string) (p *peer, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p = &peer{url: "http://" + l.Addr().String(), attacked: make(chan struct{}, 1), over: make(chan struct{})}
	var config *tls.Config
	if len(protocols) > 0 {
		p.url = "https://" + l.Addr().String()
		config = &tls.Config{Certificates: testCertificate(t), NextProtos: protocols}
	}
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			raw, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer func() { _ = raw.Close() }()
				conn := raw
				if config != nil {
					conn = tls.Server(raw, config)
				}
				attack(p, conn)
				<-p.over
				_ = raw.SetReadDeadline(time.Now().Add(3 * time.Second)) // less than any timeout of a connection
				if _, err := io.Copy(io.Discard, raw); errors.Is(err, os.ErrDeadlineExceeded) {
					t.Error("the client still holds the connection")
				}
			})
		}
	})
	return p, func() {
		close(p.over)
		_ = l.Close()
		conns.Wait()
	}
}

// testCertificate is one for tests, which the client must not verify.
func testCertificate(t *testing.T) []tls.Certificate {
	t.Helper()
	srv := httptest.NewTLSServer(http.NotFoundHandler())
	defer srv.Close()
	return srv.TLS.Certificates
}

// point reports to the test that the attack has started.
func (p *peer) point() {
	select {
	case p.attacked <- struct{}{}:
	default:
	}
}

// ended reports whether the client is done.
func (p *peer) ended() bool {
	select {
	case <-p.over:
		return true
	default:
		return false
	}
}

// answers reads a request, sends first, and then bytes of again without end: one at a time if slow. again may be "".
func answers(first, again string, slow bool) func(p *peer, conn net.Conn) {
	return func(p *peer, conn net.Conn) {
		if _, err := conn.Read(make([]byte, 4096)); err != nil {
			return
		}
		_, err := io.WriteString(conn, first)
		p.point()
		for i := 0; err == nil && again != "" && !p.ended(); i++ {
			if !slow {
				_, err = io.WriteString(conn, again)
				continue
			}
			_, err = io.WriteString(conn, again[i%len(again):i%len(again)+1])
			time.Sleep(time.Millisecond) // it is a slow peer
		}
	}
}

// says sends bytes and then nothing, although the client expects more.
func says(text string) func(p *peer, conn net.Conn) {
	return func(p *peer, conn net.Conn) {
		_, _ = io.WriteString(conn, text)
		p.point()
	}
}

// http2Peer waits for a request over HTTP/2 and goes on with attack until that fails.
func http2Peer(attack func(f *http2.Framer) error) func(p *peer, conn net.Conn) {
	return func(p *peer, conn net.Conn) {
		f := http2Request(conn)
		p.point()
		for f != nil && attack != nil && !p.ended() {
			if attack(f) != nil {
				return
			}
		}
	}
}

// floods starts a response over HTTP/2 and sends frames that the client must answer. It reads none of the answers, until
// the client can neither write nor read.
func floods(p *peer, conn net.Conn) {
	f := http2Request(conn)
	if f == nil || begin200(f) != nil {
		return
	}
	for !p.ended() {
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
		if f.WritePing(false, [8]byte{}) != nil {
			break
		}
	}
	p.point()
}

// goAway makes the client repeat every request on another connection, and keeps this one open.
func goAway(begin func(conn net.Conn) *http2.Framer) func(p *peer, conn net.Conn) {
	return func(p *peer, conn net.Conn) {
		f := begin(conn)
		if f == nil || f.WriteGoAway(0, http2.ErrCodeNo, nil) != nil {
			return
		}
		p.point()
		over := make(chan struct{})
		go func() {
			<-p.over
			_ = conn.SetReadDeadline(time.Now())
			close(over)
		}()
		for err := error(nil); err == nil; {
			var frame http2.Frame
			switch frame, err = f.ReadFrame(); frame := frame.(type) {
			case *http2.SettingsFrame:
				if !frame.IsAck() {
					err = f.WriteSettingsAck()
				}
			case *http2.PingFrame:
				err = f.WritePing(true, frame.Data)
			}
		}
		<-over
	}
}

// http2Request exchanges the preface and waits for a request.
func http2Request(conn net.Conn) *http2.Framer {
	f := http2Hello(conn)
	for f != nil {
		frame, err := f.ReadFrame()
		if err != nil {
			return nil
		}
		if _, ok := frame.(*http2.HeadersFrame); ok {
			return f
		}
	}
	return nil
}

// http2Hello exchanges the preface.
func http2Hello(conn net.Conn) *http2.Framer {
	if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
		return nil
	}
	f := http2.NewFramer(conn, conn)
	if err := f.WriteSettings(); err != nil {
		return nil
	}
	return f
}

// header is a header block of HTTP/2.
func header(fields ...string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for i := 0; i < len(fields); i += 2 {
		_ = e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return b.Bytes()
}

// once does something before the first call of next.
func once(first, next func(f *http2.Framer) error) func(f *http2.Framer) error {
	var did sync.Map // of framers: each is a connection
	return func(f *http2.Framer) error {
		if _, again := did.LoadOrStore(f, true); !again {
			return first(f)
		}
		return next(f)
	}
}

func begin200(f *http2.Framer) error {
	return f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: header(":status", "200"), EndHeaders: true})
}

func slowly(write func(f *http2.Framer) error) func(f *http2.Framer) error {
	return func(f *http2.Framer) error {
		time.Sleep(time.Millisecond) // it is a slow peer
		return write(f)
	}
}

const ok200 = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"

var attacks = []struct {
	name      string
	attack    func(p *peer, conn net.Conn)
	protocols []string // of TLS; none: no TLS
}{
	{"says nothing", says(""), nil},
	{"101 and holds", answers("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", "", false), nil},
	{"101 and talks", answers("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", "talk", true), nil},
	{"101 over TLS", answers("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", "", false), []string{"http/1.1"}},
	{"1xx without end", answers("", "HTTP/1.1 103 Early Hints\r\n\r\n", false), nil},
	{"1xx without end, slowly", answers("", "HTTP/1.1 103 Early Hints\r\n\r\n", true), nil},
	{"headers without end", answers(ok200, "X: y\r\n", false), nil},
	{"headers without end, slowly", answers(ok200, "X: y\r\n", true), nil},
	{"header of one endless line", answers(ok200+"X: ", "y", false), nil},
	{"status line, slowly", answers("HTTP/1.1 200 ", "OK", true), nil},
	{"body, slowly", answers(ok200+"Content-Length: 1000000\r\n\r\n", "body", true), nil},
	{"body until the end, slowly", answers(ok200+"\r\n", "body", true), nil},
	{"body stops", answers(ok200+"Content-Length: 1000000\r\n\r\nhalf", "", false), nil},
	{"body stops over TLS", answers(ok200+"Content-Length: 1000000\r\n\r\nhalf", "", false), []string{"http/1.1"}},
	{"body without end", answers(ok200+"\r\n", strings.Repeat("body", 1000), false), nil},
	{"chunk size, slowly", answers(ok200+"Transfer-Encoding: chunked\r\n\r\n", "0", true), nil},
	{"chunk extension, slowly", answers(ok200+"Transfer-Encoding: chunked\r\n\r\n4;", "x", true), nil},
	{"chunks without end, slowly", answers(ok200+"Transfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", true), nil},
	{"trailers without end", answers(ok200+"Trailer: X\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X: y\r\n", false), nil},
	{"trailers, slowly", answers(ok200+"Trailer: X\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X: y\r\n", true), nil},
	{"gzip members without end", answers(ok200+"Content-Encoding: gzip\r\n\r\n", emptyMember, false), nil},
	{"gzip members, slowly", answers(ok200+"Content-Encoding: gzip\r\n\r\n", emptyMember, true), nil},
	{"gzip in gzip without end", answers(ok200+"Content-Encoding: gzip\r\nContent-Type: application/gzip\r\n\r\n", emptyMember, false), nil},
	{"gzip of zeros without end", answers(ok200+"Content-Encoding: gzip\r\n\r\n"+deflatedHead, deflatedZeros, false), nil},
	{"redirects without end, slowly", answers("", "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", true), nil},
	{"redirect with a slow body", answers("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 2000\r\n\r\n", "body", true), nil},
	{"answers TLS with nothing", says(""), []string{}},
	{"stops in the TLS handshake", says("\x16\x03\x03\x40\x00\x02\x00\x3f\xfc\x03\x03"), []string{}},
	{"HTTP/2: no preface", says(""), []string{"h2"}},
	{"HTTP/2: no answer", http2Peer(nil), []string{"h2"}},
	{"HTTP/2: stops in the body", http2Peer(once(begin200, func(*http2.Framer) error { return io.EOF })), []string{"h2"}},
	{"HTTP/2: body, slowly", http2Peer(once(begin200, slowly(func(f *http2.Framer) error { return f.WriteData(1, false, []byte("b")) }))), []string{"h2"}},
	{"HTTP/2: 1xx without end", http2Peer(func(f *http2.Framer) error {
		return f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: header(":status", "103"), EndHeaders: true})
	}), []string{"h2"}},
	{"HTTP/2: CONTINUATION without end", http2Peer(once(func(f *http2.Framer) error {
		return f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: header(":status", "200")})
	}, func(f *http2.Framer) error { return f.WriteContinuation(1, false, header("x", "y")) })), []string{"h2"}},
	{"HTTP/2: CONTINUATION, slowly", http2Peer(once(func(f *http2.Framer) error {
		return f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: header(":status", "200")})
	}, slowly(func(f *http2.Framer) error { return f.WriteContinuation(1, false, nil) }))), []string{"h2"}},
	{"HTTP/2: GOAWAY at once", goAway(http2Hello), []string{"h2"}},
	{"HTTP/2: GOAWAY for the request", goAway(http2Request), []string{"h2"}},
	{"HTTP/2: SETTINGS without end", http2Peer(func(f *http2.Framer) error { return f.WriteSettings() }), []string{"h2"}},
	{"HTTP/2: PING without reading", floods, []string{"h2"}},
	{"HTTP/2: PING without end, in a body", http2Peer(once(begin200, func(f *http2.Framer) error { return f.WritePing(false, [8]byte{}) })), []string{"h2"}},
}

// The members of a gzip file that holds nothing, and of one that holds zeros and never ends.
const (
	emptyMember   = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x01\x00\x00\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00"
	deflatedHead  = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
	deflatedZeros = "\x00\x04\x00\xfb\xff\x00\x00\x00\x00" // a stored block of four bytes
)

// For any server, a fetch ends at its timeout or when its context is canceled, and leaves no connections or goroutines behind.
func TestHostilePeers(t *testing.T) {
	const timeout, soon = 150 * time.Millisecond, time.Second
	requests := map[string]Request{
		"kept": {}, "discarded": {Discard: true, MaxBytes: bodyLimit}, "until": {Until: func([]byte) bool { return false }},
		"streamed": {MaxBytes: bodyLimit, Stream: func(r io.Reader) error {
			_, err := io.Copy(io.Discard, r)
			return err
		}},
	}
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	var rows sync.WaitGroup
	defer rows.Wait()
	atOnce := make(chan struct{}, 4) // most of the time, a row waits
	for _, row := range attacks {
		rows.Go(func() {
			atOnce <- struct{}{}
			defer func() { <-atOnce }()
			t.Run(row.name, func(t *testing.T) {
				var fetches sync.WaitGroup
				defer fetches.Wait()
				for kind, r := range requests {
					fetch := func(name string, ctx context.Context, timeout time.Duration, end func(p *peer) time.Time) {
						protocols := row.protocols
						p, stop := hostile(t, row.attack, protocols...)
						if protocols != nil { // with none, it is only said to speak TLS
							p.url = "https" + strings.TrimPrefix(strings.TrimPrefix(p.url, "https"), "http")
						}
						c := testClient(t, Options{})
						defer c.Close()
						defer stop() // before Close, which ends more than a fetch does
						c.transport.base.TLSClientConfig.InsecureSkipVerify = true
						r := r
						r.URL, r.Timeout, r.MaxRedirects = p.url, timeout, 1000
						result := make(chan error, 1)
						go func() {
							_, err := c.Fetch(ctx, r)
							result <- err
						}()
						began := end(p)
						err := <-result
						if late := time.Since(began); late > soon {
							t.Errorf("%s, %s: ended %v late", kind, name, late)
						}
						if _, ok := errors.AsType[*Error](err); err != nil && !ok {
							t.Errorf("%s, %s: got %v, want an *Error", kind, name, err)
						}
					}
					fetches.Go(func() {
						fetch("timeout", t.Context(), timeout, func(*peer) time.Time { return time.Now().Add(timeout) })
					})
					fetches.Go(func() {
						ctx, cancel := context.WithCancel(t.Context())
						defer cancel()
						fetch("cancelled", ctx, time.Minute, func(p *peer) time.Time {
							<-p.attacked
							cancel()
							return time.Now()
						})
					})
				}
			})
		})
	}
}

// If a peer makes the client repeat requests on new connections, there are few of them, and all are closed.
func TestRepeatedRequestsLeaveNoConnections(t *testing.T) {
	for name, begin := range map[string]func(net.Conn) *http2.Framer{"at once": http2Hello, "for the request": http2Request} {
		t.Run(name, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			var opened atomic.Int64
			attack := goAway(begin)
			p, stop := hostile(t, func(p *peer, conn net.Conn) {
				opened.Add(1)
				attack(p, conn)
			}, "h2")
			c := testClient(t, Options{})
			defer c.Close()
			defer stop()
			c.transport.base.TLSClientConfig.InsecureSkipVerify = true
			_, err := c.Fetch(t.Context(), Request{URL: p.url, Timeout: time.Minute})
			fails(t, err, KindReset, "connection closed early")
			if n := opened.Load(); n > maxDials {
				t.Errorf("%d connections", n)
			}
		})
	}
}
