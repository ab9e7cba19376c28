package outbound

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// wireServer answers each request with the bytes that answer returns, and keeps the connection open unless they say
// "Connection: close". With TLS it speaks HTTP/1.1 only. split sends them one by one.
type wireServer struct {
	url   string
	conns atomic.Int64 // accepted so far
}

func serveWire(t *testing.T, secure, split bool, answer func(r *http.Request) string) *wireServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &wireServer{url: "http://" + l.Addr().String()}
	if secure {
		s.url = "https" + strings.TrimPrefix(s.url, "http")
		l = tls.NewListener(l, &tls.Config{Certificates: testCertificate(t), NextProtos: []string{"http/1.1"}})
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.conns.Add(1)
			all.Go(func() {
				defer func() { _ = conn.Close() }()
				requests := bufio.NewReader(conn)
				for {
					r, err := http.ReadRequest(requests)
					if err != nil {
						return
					}
					text := answer(r)
					step := max(1, len(text))
					if split {
						step = 1
					}
					for part := range slices.Chunk([]byte(text), step) {
						if _, err := conn.Write(part); err != nil {
							return
						}
					}
					if strings.Contains(text, "Connection: close") {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	return s
}

const page = "<!doctype html><title>Page</title><p>text" // 41 bytes

// Browsers and curl accept each of these responses. The page follows every head.
var oddHeads = map[string]string{
	"control byte in a value":       "HTTP/1.1 200 OK\r\nSet-Cookie: a=\x01; path=/\r\nContent-Length: 41\r\n\r\n",
	"DEL in a value":                "HTTP/1.1 200 OK\r\nX: \x7f\r\nContent-Length: 41\r\n\r\n",
	"NUL in a value":                "HTTP/1.1 200 OK\r\nX: a\x00b\r\nContent-Length: 41\r\n\r\n",
	"bare CR in a value":            "HTTP/1.1 200 OK\r\nX: a\rContent-Length: 3\r\nContent-Length: 41\r\n\r\n",
	"two CRs at the end of a line":  "HTTP/1.1 200 OK\r\nX: a\r\r\nContent-Length: 41\r\r\n\r\r\n",
	"odd name":                      "HTTP/1.1 200 OK\r\nX(A): 1\r\nContent-Length: 41\r\n\r\n",
	"name with a space":             "HTTP/1.1 200 OK\r\nX A: 1\r\nContent-Length: 41\r\n\r\n",
	"space before the colon":        "HTTP/1.1 200 OK\r\nContent-Length : 41\r\n\r\n",
	"empty name":                    "HTTP/1.1 200 OK\r\n: 1\r\nContent-Length: 41\r\n\r\n",
	"name that is not ASCII":        "HTTP/1.1 200 OK\r\nX-\xc3\xa9: 1\r\nX-\xe9: 1\r\nContent-Length: 41\r\n\r\n",
	"control byte in a name":        "HTTP/1.1 200 OK\r\nX\x00: 1\r\nContent-Length: 41\r\n\r\n",
	"line without a colon":          "HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 41\r\n\r\n",
	"first line is folded":          "HTTP/1.1 200 OK\r\n X: 1\r\nContent-Length: 41\r\n\r\n",
	"folded length":                 "HTTP/1.1 200 OK\r\nContent-Length:\r\n 41\r\n\r\n",
	"lines end in LF, odd name":     "HTTP/1.1 200 OK\nX(A): 1\nContent-Length: 41\n\n",
	"transfer coding identity":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 41\r\n\r\n",
	"identity without a length":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nConnection: close\r\n\r\n",
	"unknown transfer coding":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: 8bit\r\nContent-Length: 41\r\n\r\n",
	"empty transfer coding":         "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\nContent-Length: 41\r\n\r\n",
	"length twice in a field":       "HTTP/1.1 200 OK\r\nContent-Length: 41, 41\r\n\r\n",
	"length twice":                  "HTTP/1.1 200 OK\r\nContent-Length: 41\r\nContent-Length: 041\r\n\r\n",
	"length and empty elements":     "HTTP/1.1 200 OK\r\nContent-Length: , 41,\r\n\r\n",
	"length that is no number":      "HTTP/1.1 200 OK\r\nContent-Length: many\r\nConnection: close\r\n\r\n",
	"empty length":                  "HTTP/1.1 200 OK\r\nContent-Length:\r\nConnection: close\r\n\r\n",
	"negative length":               "HTTP/1.1 200 OK\r\nContent-Length: -1\r\nConnection: close\r\n\r\n",
	"length over 63 bits":           "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\nConnection: close\r\n\r\n",
	"length over 64 bits":           "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\nConnection: close\r\n\r\n",
	"status line in lower case":     "http/1.1 200 ok\r\nContent-Length: 41\r\n\r\n",
	"tab in the status line":        "HTTP/1.1\t200\tOK\r\nContent-Length: 41\r\n\r\n",
	"no space after the status":     "HTTP/1.1 200OK\r\nContent-Length: 41\r\n\r\n",
	"version without a number":      "HTTP 200 OK\r\nContent-Length: 41\r\nConnection: close\r\n\r\n",
	"version 2":                     "HTTP/2 200\r\nContent-Length: 41\r\n\r\n",
	"Shoutcast":                     "ICY 200 OK\r\nContent-Length: 41\r\nConnection: close\r\n\r\n",
	"empty lines before the head":   "\r\n\nHTTP/1.1 200 OK\r\nContent-Length: 41\r\n\r\n",
	"after an odd informational":    "HTTP/1.1 103 Early Hints\r\nX(A): 1\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 41\r\n\r\n",
	"after a valid informational":   "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nX(A): 1\r\nContent-Length: 41\r\n\r\n",
	"keep-alive is not believed":    "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nX(A): 1\r\nContent-Length: 41\r\n\r\n",
	"odd fields in an old response": "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nX(A): 1\r\nContent-Length: 41\r\n\r\n",
}

// secureClient is a testClient that trusts every certificate.
func secureClient(t *testing.T) *Client {
	c := testClient(t, Options{})
	c.transport.base.TLSClientConfig.InsecureSkipVerify = true
	return c
}

// A response with an odd head is read as in a browser, with and without TLS and however it arrives. What follows it is not
// taken for another response: the connection is closed.
func TestOddHeads(t *testing.T) {
	t.Parallel()
	const injected = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\ninjected"
	for name, head := range oddHeads {
		for _, mode := range []struct{ secure, split bool }{{}, {secure: true}, {split: true}} {
			t.Run(name, func(t *testing.T) {
				closes := strings.Contains(head, "Connection: close")
				s := serveWire(t, mode.secure, mode.split, func(*http.Request) string {
					if closes {
						return head + page
					}
					return head + page + injected
				})
				c := secureClient(t)
				for n := range int64(2) {
					res := get(t, c, Request{URL: s.url})
					if res.StatusCode != http.StatusOK || string(res.Body) != page {
						t.Fatalf("got %d %q", res.StatusCode, res.Body)
					}
					if s.conns.Load() != n+1 {
						t.Errorf("%d connections after %d responses", s.conns.Load(), n+1)
					}
				}
				if res := get(t, c, Request{URL: s.url, Discard: true}); res.StatusCode != http.StatusOK {
					t.Errorf("a check got %+v", res)
				}
			})
		}
	}
}

func TestOddHeadKeepsOtherFields(t *testing.T) {
	s := serveWire(t, false, false, func(*http.Request) string {
		return "HTTP/1.1 302 Found\r\nX(A): 1\r\nLocation: /caf\xe9\r\nX-Folded: a\r\n\tb\r\nSet-Cookie: a=1\r\nSet-Cookie: b=\x012\r\nContent-Length: 0\r\n\r\n"
	})
	res := get(t, testClient(t, Options{}), Request{URL: s.url})
	if res.StatusCode != http.StatusFound || res.Location != s.url+"/caf%E9" || res.Header.Get("X-Folded") != "a b" ||
		!slices.Equal(res.Header["Set-Cookie"], []string{"a=1", "b= 2"}) {
		t.Errorf("got %d %q %q", res.StatusCode, res.Location, res.Header)
	}
}

// What browsers refuse too stays an error, most of all two lengths.
func TestConflictingHeads(t *testing.T) {
	for name, head := range map[string]string{
		"two lengths":                    "HTTP/1.1 200 OK\r\nContent-Length: 41\r\nContent-Length: 40\r\n\r\n",
		"two lengths in a field":         "HTTP/1.1 200 OK\r\nContent-Length: 41, 40\r\n\r\n",
		"length and no number":           "HTTP/1.1 200 OK\r\nContent-Length: 41, many\r\n\r\n",
		"two lengths over 63 bits":       "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808, 9223372036854775809\r\n\r\n",
		"length and a negative one":      "HTTP/1.1 200 OK\r\nContent-Length: 41\r\nContent-Length: -41\r\n\r\n",
		"two lengths in odd fields":      "HTTP/1.1 200 OK\r\nContent-Length : 41\r\nContent-Length: 4\r\n\r\n",
		"two lengths, chunked":           "HTTP/1.1 200 OK\r\nContent-Length: 41, 40\r\nTransfer-Encoding: chunked\r\n\r\n",
		"length and one over 63 bits":    "HTTP/1.1 200 OK\r\nContent-Length: 41\r\nContent-Length: 9223372036854775849\r\n\r\n",
		"compression as transfer coding": "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
		"no status":                      "HTTP/1.1 OK\r\nContent-Length: 41\r\n\r\n",
		"long status":                    "HTTP/1.1 2000 OK\r\nContent-Length: 41\r\n\r\n",
		"no HTTP":                        "SSH-2.0-OpenSSH_9.2\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := serveWire(t, false, false, func(*http.Request) string { return head + page })
			c := testClient(t, Options{})
			for range 2 {
				_, err := c.Fetch(t.Context(), Request{URL: s.url})
				fails(t, err, KindProtocol, "bad HTTP response")
			}
			if n := s.conns.Load(); n != 2 {
				t.Errorf("%d connections for 2 responses", n)
			}
		})
	}
}

// Lines of a chunked body may end in LF, what follows its sizes is ignored, and its trailer may be odd.
func TestChunkLines(t *testing.T) {
	t.Parallel()
	const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
	for name, tc := range map[string]struct {
		answer string
		reused bool // the connection
	}{
		"CRLF":               {head + "\r\n29\r\n" + page + "\r\n0\r\n\r\n", true},
		"two chunks":         {head + "\r\n1\r\n<\r\n28;x=y\r\n" + page[1:] + "\r\n0\r\n\r\n", true},
		"trailer":            {head + "Trailer: Content-Length\r\n\r\n29\r\n" + page + "\r\n0\r\nX: 1\r\n\r\n", false},
		"LF":                 {head + "\r\n29\n" + page + "\n0\n\n", false},
		"LF in the head too": {"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n29\n" + page + "\n0\n\n", false},
		"LF after the size":  {head + "\r\n29\n" + page + "\r\n0\r\n\r\n", false},
		"LF after the data":  {head + "\r\n29\r\n" + page + "\n0\r\n\r\n", false},
		"LF at the end":      {head + "\r\n29\r\n" + page + "\r\n0\r\n\n", false},
		"padded size":        {head + "\r\n29  \r\n" + page + "\r\n0 \r\n\r\n", false},
		"extensions":         {head + "\r\n1;x=\"y\";z\r\n<\r\n28;\r\n" + page[1:] + "\r\n0;" + strings.Repeat("x", maxChunkExtension-1) + "\r\n\r\n", true},
		"long extension":     {head + "\r\n29;" + strings.Repeat("x", 6000) + "\r\n" + page + "\r\n0\r\n\r\n", false},
		"two CRs":            {head + "\r\n29\r\r\n" + page + "\r\r\n0\r\r\n\r\r\n", false},
		"CR in an extension": {head + "\r\n29;a\rb\r\n" + page + "\r\n0 \r\r\n\r\n", false},
		"CR after the size":  {head + "\r\n29\rb\n" + page + "\r\n0\r\n\r\n", false},
		"CR in the trailer":  {head + "\r\n29\r\n" + page + "\r\n0\r\n\rX: 1\r\n\r\n", false},
		"odd extension":      {head + "\r\n29 ; x\r\n" + page + "\r\n0\t;x\r\n\r\n", false},
		"no extension":       {head + "\r\n29 5 x\n" + page + "\n0\n\n", false},
		"odd trailer":        {head + "\r\n29\r\n" + page + "\r\n0\r\nX(A): \x01\r\nno colon\n\r\n", false},
		"LF, odd head":       {head + "X(A): 1\r\n\r\n29\n" + page + "\n0\n\n", false},
		"chunked twice":      {head + "Transfer-Encoding: chunked\r\n\r\n29\r\n" + page + "\r\n0\r\n\r\n", false},
		"chunked twice, LF":  {head + "Transfer-Encoding: identity, chunked, chunked\r\n\r\n29\n" + page + "\n0\n\n", false},
		"and a length":       {head + "Content-Length: 7\r\n\r\n29\r\n" + page + "\r\n0\r\n\r\n", false},
	} {
		for _, mode := range []struct{ secure, split bool }{{}, {secure: true}, {split: true}} {
			t.Run(name, func(t *testing.T) {
				s := serveWire(t, mode.secure, mode.split, func(*http.Request) string { return tc.answer })
				c := secureClient(t)
				for range 3 {
					if res := get(t, c, Request{URL: s.url}); string(res.Body) != page {
						t.Fatalf("got %q", res.Body)
					}
				}
				if n := s.conns.Load(); (n == 1) != tc.reused {
					t.Errorf("%d connections", n)
				}
			})
		}
	}
	for name, body := range map[string]string{
		"no size": "\n" + page, "no number": "x\n" + page, "too large": "11111111111111111\n" + page, "data is too long": "2\n" + page,
		"junk after data": "29\n" + page + "\rx\n0\n\n",
		"cut off":         "29\n" + page + "\n", "no data": "29\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := serveWire(t, false, false, func(*http.Request) string { return head + "Connection: close\r\n\r\n" + body })
			if res, err := testClient(t, Options{}).Fetch(t.Context(), Request{URL: s.url}); err == nil {
				t.Errorf("got %q", res.Body)
			}
		})
	}
}

// A peer that speaks another protocol, and waits for the client, fails at once.
func TestOtherProtocols(t *testing.T) {
	for _, greeting := range []string{"220 mail.example ESMTP\r\n", "-ERR unknown command\r\n", "\r\nx\n"} {
		s := serveWire(t, false, false, func(*http.Request) string { return greeting })
		_, err := testClient(t, Options{Timeout: time.Minute}).Fetch(t.Context(), Request{URL: s.url})
		fails(t, err, KindProtocol, "bad HTTP response")
	}
}

// HEAD has the head of a chunked body, but no body.
func TestChunkedHead(t *testing.T) {
	s := serveWire(t, false, false, func(r *http.Request) string {
		head := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
		if r.Method == http.MethodHead {
			return head
		}
		return head + "29\n" + page + "\n0\n\n"
	})
	c := testClient(t, Options{})
	for range 2 {
		if res := get(t, c, Request{URL: s.url, Method: http.MethodHead}); res.StatusCode != http.StatusOK {
			t.Errorf("got %+v", res)
		}
	}
	if res := get(t, c, Request{URL: s.url}); string(res.Body) != page || s.conns.Load() != 1 {
		t.Errorf("got %q by %d connections", res.Body, s.conns.Load())
	}
}

// readAll reads what a headConn passes of bytes that arrive in parts, as the response to a GET.
func readAll(parts ...[]byte) []byte {
	c := &headConn{Conn: &scripted{parts: parts}}
	method := http.MethodGet
	c.expect(&method)
	all, _ := io.ReadAll(c) // a scripted connection ends with io.EOF
	return all
}

// scripted is a connection that receives parts.
type scripted struct {
	net.Conn
	parts [][]byte
}

func (s *scripted) Read(p []byte) (int, error) {
	if len(s.parts) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.parts[0])
	if s.parts[0] = s.parts[0][n:]; len(s.parts[0]) == 0 {
		s.parts = s.parts[1:]
	}
	return n, nil
}

// Valid responses pass without an allocation.
func TestValidResponsesPass(t *testing.T) {
	answer := []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n29\r\n" + page + "\r\n0\r\n\r\n")
	conn := &scripted{}
	c := &headConn{Conn: conn}
	method, p := http.MethodGet, make([]byte, 4096)
	parts := make([][]byte, 1)
	if n := testing.AllocsPerRun(100, func() {
		parts[0] = answer
		conn.parts = parts
		c.expect(&method)
		if n, err := c.Read(p); n != len(answer) || err != nil {
			t.Fatalf("got %d bytes, %v", n, err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzHeadConn(f *testing.F) {
	for _, head := range oddHeads {
		f.Add([]byte(head+page), 7)
	}
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n29\n"+page+"\n0\nX: y\n\nHTTP/1.1 200 OK\r\n\r\n"), 60)
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n29;a\rb\r\r\n"+page+"\r\r\n0\r\n\rX: y\r\n\r\n"), 50)
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n29\r\n"+page+"\r\n0\r\n\r\n"), 60)
	f.Fuzz(func(t *testing.T, answer []byte, at int) {
		whole := readAll(bytes.Clone(answer))
		at = min(max(0, at), len(answer))
		if parts := readAll(bytes.Clone(answer[:at]), bytes.Clone(answer[at:])); !bytes.Equal(whole, parts) {
			t.Fatalf("in parts %q\nas a whole %q", parts, whole)
		}
		if bytes.Equal(whole, answer) {
			return
		}
		// It was repaired: nothing may follow its response. A head with a fault says so, a body is cut.
		responses := bufio.NewReader(bytes.NewReader(whole))
		for {
			res, err := http.ReadResponse(responses, nil)
			if err != nil {
				return
			}
			if _, err := io.Copy(io.Discard, res.Body); err != nil {
				return
			}
			res.Body.Close()
			if res.StatusCode/100 == 1 && res.StatusCode != http.StatusSwitchingProtocols {
				continue
			}
			if _, err := responses.Peek(1); !res.Close && err == nil {
				t.Fatalf("%q\nhas another response: %q", answer, whole)
			}
			return
		}
	})
}
