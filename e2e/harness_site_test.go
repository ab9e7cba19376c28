//go:build e2e

package e2e

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// pictures is the host of the images of a site. Only the browser requests them, and finds the host on this machine.
// (The program shows no images of an address such as 127.0.0.1.)
const pictures = "pictures.example"

// website is the web that the program fetches. Every path is an article with OpenGraph data, unless the test sets
// another response.
type website struct {
	*httptest.Server
	mu      sync.Mutex
	answers map[string]http.HandlerFunc
	asked   map[string]int
}

// site serves a website on loopback until the test ends.
func site(t testing.TB) *website {
	t.Helper()
	w := &website{answers: map[string]http.HandlerFunc{"/picture.png": picture}, asked: map[string]int{}}
	w.Server = httptest.NewServer(w)
	t.Cleanup(func() {
		w.CloseClientConnections() // of pages that never end
		w.Close()
	})
	return w
}

// ServeHTTP implements http.Handler.
func (w *website) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	answer := w.answers[r.URL.Path]
	w.asked[r.URL.Path]++
	w.mu.Unlock()
	if answer == nil {
		answer = article
	}
	answer(rw, r)
}

// set sets the response of a path and returns its URL.
func (w *website) set(path string, answer http.HandlerFunc) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers[path] = answer
	return w.URL + path
}

// requests returns the number of requests of a path so far.
func (w *website) requests(path string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked[path]
}

// article is a page with everything: /go-memory has the title "Go memory".
func article(rw http.ResponseWriter, r *http.Request) {
	name := strings.ReplaceAll(strings.Trim(r.URL.Path, "/"), "-", " ")
	if name != "" {
		name = strings.ToUpper(name[:1]) + name[1:]
	}
	_, port, _ := net.SplitHostPort(r.Host)
	document(fmt.Sprintf(`<title>not this one</title>
<meta property="og:title" content="%[1]s">
<meta property="og:description" content="What there is to know about %[1]s.">
<meta property="og:image" content="http://%[2]s/picture.png">
<meta property="og:site_name" content="The Daily Test">`, html.EscapeString(name), net.JoinHostPort(pictures, port)))(rw, r)
}

// document is an HTML page with this head.
func document(head string) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(rw, "<!doctype html><html><head>%s</head><body><p>Text.</p></body></html>", head)
	}
}

// titled is a page with this title, which it escapes.
func titled(title string) http.HandlerFunc {
	return document("<title>" + html.EscapeString(title) + "</title>")
}

// status is an empty response with this status.
func status(code int) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(code) }
}

// redirect redirects to another path of the site, or to another URL.
func redirect(code int, to string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, to, code) }
}

// picture is a small PNG.
func picture(rw http.ResponseWriter, _ *http.Request) {
	img := image.NewRGBA(image.Rect(0, 0, 320, 180))
	for y := range 180 {
		for x := range 320 {
			img.Set(x, y, color.RGBA{uint8(40 + x/2), uint8(90 + y/2), uint8(200 - x/4), 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
		return
	}
	rw.Header().Set("Content-Type", "image/png")
	_, _ = rw.Write(b.Bytes()) // the client may have disconnected
}

// hosts serves one page at n addresses of this machine, which clients treat as different hosts.
func hosts(t testing.TB, n int, page http.Handler) (urls []string) {
	t.Helper()
	for range n {
		w := site(t)
		w.Config.Handler = page
		urls = append(urls, w.URL)
	}
	return urls
}

// pour sends head and then filler until it has sent size bytes (0: without end).
func pour(head, filler string, size int) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(rw, head)
		chunk := []byte(strings.Repeat(filler, 32<<10/len(filler)))
		for sent := 0; size == 0 || sent < size; sent += len(chunk) {
			if _, err := rw.Write(chunk); err != nil || r.Context().Err() != nil {
				return // the client closed the connection
			}
		}
	}
}

// again serves a closed site at its previous address.
func (w *website) again(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", w.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	w.Server = &httptest.Server{Listener: listener, Config: &http.Server{Handler: w}}
	w.Start()
	t.Cleanup(w.Close)
}

// trusted serves a page with TLS. setting makes the program trust the certificate.
func trusted(t *testing.T, page http.HandlerFunc) (server *httptest.Server, setting string) {
	t.Helper()
	server = httptest.NewTLSServer(page)
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "authorities.pem")
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(file, authority, 0o600); err != nil {
		t.Fatal(err)
	}
	return server, "SSL_CERT_FILE=" + file
}
