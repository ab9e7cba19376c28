package outbound

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// requestLines responds to every request with status and header, and reports the first line of each.
func requestLines(t *testing.T, head string) (address string, lines <-chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	ch := make(chan string, 16)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			r := bufio.NewReader(c)
			line, _ := r.ReadString('\n')
			for rest := line; rest != "\r\n" && rest != ""; {
				rest, _ = r.ReadString('\n')
			}
			ch <- strings.TrimSpace(line)
			_, _ = io.WriteString(c, head)
			_ = c.Close()
		}
	}()
	return l.Addr().String(), ch
}

// The client sends the same request line as a browser.
func TestRequestLine(t *testing.T) {
	host, lines := requestLines(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	c := testClient(t, Options{})
	for in, want := range map[string]string{
		"":                   "/",
		"/":                  "/",
		"/foo%":              "/foo%25",
		"/foo%25":            "/foo%25",
		"/%zz/%4":            "/%25zz/%254",
		"/a b":               "/a%20b",
		"/a%20b+c":           "/a%20b+c",
		"/?q=a b\"<>'|^`{}":  "/?q=a%20b%22%3C%3E%27|^`{}",
		"?q":                 "/?q",
		"/?":                 "/?",
		"/ü?ü":               "/%C3%BC?%C3%BC",
		"/a|b":               "/a|b",
		"/a|b/%7C/ü?x|y":     "/a|b/%7C/%C3%BC?x|y",
		"/[a]":               "/[a]",
		`/a\b?c\d`:           `/a/b?c\d`,
		"/\"<>^`{}":          "/%22%3C%3E%5E%60%7B%7D",
		"/!$&'()*+,;=:@-._~": "/!$&'()*+,;=:@-._~",
		"/a/./b/../c/%2e%2E": "/a/",
		"/a\tb\nc#fragment":  "/abc",
		"//a//b":             "//a//b",
		"/a%2Fb":             "/a%2Fb",
	} {
		get(t, c, Request{URL: "http://" + host + in})
		if got := <-lines; got != "GET "+want+" HTTP/1.1" {
			t.Errorf("%q is requested as %q, want %q", in, got, want)
		}
	}
	// net/http has no other way to send a path that begins with two slashes and has a | in it.
	get(t, c, Request{URL: "http://" + host + "//a|b"})
	if got := <-lines; got != "GET http://"+host+"//a|b HTTP/1.1" {
		t.Errorf("got %q", got)
	}
}

// A Location is parsed as in a browser.
func TestLocations(t *testing.T) {
	for location, want := range map[string]string{
		"/foo%":           "/foo%25",
		"/a b|c":          "/a%20b|c",
		`\a\b`:            "/a/b",
		"../x/./%2e%2e/y": "/y",
		"/\xfc\u00fc":     "/%FC%C3%BC",
		"?q=\xff a":       "/from/here?q=%FF%20a",
		" /x ":            "/x",
	} {
		var got string
		srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/from/here" && r.URL.RawQuery == "" {
				w.Header().Set("Location", location)
				w.WriteHeader(http.StatusFound)
				return
			}
			got = r.RequestURI
		})
		get(t, testClient(t, Options{}), Request{URL: srv.URL + "/from/here", MaxRedirects: 2})
		if got != want {
			t.Errorf("%q leads to %q, want %q", location, got, want)
		}
	}
}

func TestResolveURLRefuses(t *testing.T) {
	from, _ := url.Parse("http://example.com/a")
	for _, ref := range []string{"http://u:p@example.com/", "http://256.1.1.1/", "http://foo.0x4/", "ftp://example.com/", "javascript:x", "http://:80/", "//a b/", "http://a{b/"} {
		if u, err := resolveURL(from, ref); err == nil {
			t.Errorf("%q is taken as %q", ref, u)
		}
	}
}
