package outbound

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

func gzipped(t testing.TB, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if _, err := io.WriteString(w, p); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pour writes until the client closes the connection or total bytes are sent, and reports the number of bytes.
func pour(total int64, away *atomic.Int64, done chan<- struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		defer close(done)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		chunk := bytes.Repeat([]byte("<p>so much text</p>\n"), 1600)
		for away.Load() < total {
			n, err := w.Write(chunk)
			away.Add(int64(n))
			if err != nil {
				return
			}
		}
	}
}

func TestHugePage(t *testing.T) {
	var away atomic.Int64
	done := make(chan struct{})
	srv := serve(t, pour(100<<20, &away, done))
	c := testClient(t, Options{Timeout: time.Minute})

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res := get(t, c, Request{URL: srv.URL})
	runtime.ReadMemStats(&after)
	<-done
	if int64(len(res.Body)) != PageLimit || !res.Truncated {
		t.Errorf("got %d bytes, truncated %v", len(res.Body), res.Truncated)
	}
	// What the server wrote beyond the limit is in the sockets' buffers.
	if n := away.Load(); n > PageLimit+16<<20 {
		t.Errorf("the server got rid of %d bytes", n)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 40<<20 {
		t.Errorf("allocated %d MiB in all", used>>20)
	}
}

func TestUntil(t *testing.T) {
	var away atomic.Int64
	done := make(chan struct{})
	srv := serve(t, pour(100<<20, &away, done))
	calls := 0
	res := get(t, testClient(t, Options{}), Request{URL: srv.URL, Until: func(b []byte) bool {
		calls++
		return len(b) > 50_000
	}})
	<-done
	if !res.Truncated || len(res.Body) <= 50_000 || len(res.Body) > 200_000 || calls < 2 || away.Load() > 20<<20 {
		t.Errorf("%d bytes after %d calls, truncated %v, %d written", len(res.Body), calls, res.Truncated, away.Load())
	}
}

func TestCaps(t *testing.T) {
	body := strings.Repeat("x", 1000)
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprint(w, body) })
	c := testClient(t, Options{})
	for _, tc := range []struct {
		max       int64
		want      int
		truncated bool
	}{{999, 999, true}, {1000, 1000, false}, {1001, 1000, false}, {1, 1, true}, {math.MaxInt64, 1000, false}, {0, 1000, false}} {
		res := get(t, c, Request{URL: srv.URL, MaxBytes: tc.max})
		if len(res.Body) != tc.want || res.Truncated != tc.truncated {
			t.Errorf("%+v: got %d bytes, truncated %v", tc, len(res.Body), res.Truncated)
		}
	}
}

// An endless body that stalls exactly at the limit is truncated, not a timeout.
func TestStallAtCap(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, strings.Repeat("x", 1000))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	res := get(t, testClient(t, Options{}), Request{URL: srv.URL, MaxBytes: 1000, Timeout: 50 * time.Millisecond})
	if len(res.Body) != 1000 || !res.Truncated {
		t.Errorf("got %d bytes, truncated %v", len(res.Body), res.Truncated)
	}
}

func TestGzipBomb(t *testing.T) {
	zeros := strings.Repeat("\x00", 1<<20)
	var parts []string
	for range 64 {
		parts = append(parts, zeros)
	}
	bomb := gzipped(t, parts...) // 64 MiB in a few hundred KiB
	// Thousands of empty members inside gzip: much work, no output.
	empty := gzipped(t, strings.Repeat(string(gzipped(t)), 50_000))
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		if r.URL.Path == "/empty.xml.gz" {
			_, _ = w.Write(empty)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(bomb)
	})
	c := testClient(t, Options{Timeout: time.Minute})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res := get(t, c, Request{URL: srv.URL})
	runtime.ReadMemStats(&after)
	if int64(len(res.Body)) != PageLimit || !res.Truncated {
		t.Errorf("got %d bytes, truncated %v", len(res.Body), res.Truncated)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 40<<20 {
		t.Errorf("allocated %d MiB in all", used>>20)
	}
	_, err := c.Fetch(t.Context(), Request{URL: srv.URL + "/empty.xml.gz", MaxBytes: 100_000})
	fails(t, err, KindReset, "connection closed early")
}

func TestEncodings(t *testing.T) {
	const page = "<title>Ünpacked</title>"
	deflated := func(zl bool) string {
		var b bytes.Buffer
		var w io.WriteCloser = zlib.NewWriter(&b)
		if !zl {
			w, _ = flate.NewWriter(&b, 6)
		}
		_, _ = io.WriteString(w, page)
		_ = w.Close()
		return b.String()
	}
	for name, tc := range map[string]struct{ path, encoding, kind, body, want string }{
		"gzip":                {"/", "gzip", "text/html", string(gzipped(t, page)), page},
		"x-gzip":              {"/", "X-GZIP", "text/html", string(gzipped(t, page)), page},
		"called gzip, is not": {"/", "gzip", "text/html", page, page},
		"empty gzip":          {"/", "gzip", "text/html", "", ""},
		"zlib":                {"/", "deflate", "text/html", deflated(true), page},
		"bare deflate":        {"/", "deflate", "text/html", deflated(false), page},
		"empty deflate":       {"/", "deflate", "text/html", "", ""},
		"gzip twice":          {"/", "gzip, x-gzip", "text/html", string(gzipped(t, string(gzipped(t, page)))), page},
		"brotli":              {"/", "br", "text/html", brotlied(t, page), page},
		"empty brotli":        {"/", "br", "text/html", "", ""},
		"zstd":                {"/", "zstd", "text/html", zstded(t, page), page},
		"called zstd, is not": {"/", "zstd", "text/html", page, page},
		"utf-8":               {"/", "UTF-8", "text/html", page, page},
		"none":                {"/", "none", "text/html", page, page},
		"8bit":                {"/", "8bit", "text/html", page, page},
		"a type":              {"/", "text/html", "text/html", page, page},
		"an unknown token":    {"/", "x-tomorrow", "text/html", page, page},
		"no token":            {"/", ";,\"", "text/html", page, page},
		"gzip and unknown":    {"/", "gzip, utf-8", "text/html", string(gzipped(t, page)), page},
		"unknown and gzip":    {"/", "none,gzip", "text/html", string(gzipped(t, page)), page},
		"gzip file":           {"/sitemap.xml.gz", "", "application/octet-stream", string(gzipped(t, page)), page},
		"gzip type":           {"/sitemap", "", "application/x-gzip", string(gzipped(t, page)), page},
		"gzip file in gzip":   {"/sitemap.xml.gz", "gzip", "text/xml", string(gzipped(t, string(gzipped(t, page)))), page},
		"binary":              {"/", "", "image/png", "\x89PNG\xff\xfe", "\x89PNG\xff\xfe"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Encoding", tc.encoding)
				w.Header().Set("Content-Type", tc.kind)
				_, _ = io.WriteString(w, tc.body)
			})
			c := testClient(t, Options{})
			if res := get(t, c, Request{URL: srv.URL + tc.path}); string(res.Body) != tc.want || res.Truncated {
				t.Errorf("got %q", res.Body)
			}
			if res := get(t, c, Request{URL: srv.URL + tc.path, Method: http.MethodHead}); len(res.Body) != 0 {
				t.Errorf("HEAD: got %q", res.Body)
			}
		})
	}
}

func brotlied(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := brotli.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zstded(t *testing.T, text string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(w.EncodeAll([]byte(text), nil))
}

// As in browsers, a page counts although the end of its compression is missing or wrong, or other bytes follow.
func TestCompressionEnds(t *testing.T) {
	page := strings.Repeat("<title>Packed</title>", 3000)
	gz, br, zs := string(gzipped(t, page)), brotlied(t, page), zstded(t, page)
	var zl bytes.Buffer
	w := zlib.NewWriter(&zl)
	_, _ = io.WriteString(w, page)
	_ = w.Close()
	whole := func(body string) bool { return body == page }
	part := func(body string) bool { return len(body) > 0 && strings.HasPrefix(page, body) }
	for name, tc := range map[string]struct {
		encoding, body string
		read           func(body string) bool
	}{
		"gzip and zeros":              {"gzip", gz + "\x00\x00\x00\x00", whole},
		"gzip and many zeros":         {"gzip", gz + strings.Repeat("\x00", 5000), whole},
		"gzip and a page":             {"gzip", gz + "<!-- served in 5 ms --><p>more than a header", whole},
		"two gzip members":            {"gzip", gz + gz, func(body string) bool { return body == page+page }},
		"gzip without its trailer":    {"gzip", gz[:len(gz)-8], whole},
		"gzip with half of a trailer": {"gzip", gz[:len(gz)-3], whole},
		"gzip with a wrong checksum":  {"gzip", gz[:len(gz)-8] + "\x00\x00\x00\x00" + gz[len(gz)-4:], whole},
		"gzip with a wrong length":    {"gzip", gz[:len(gz)-1] + "\xff", whole},
		"gzip that is cut":            {"gzip", gz[:len(gz)-12], part},
		"zlib without its checksum":   {"deflate", zl.String()[:zl.Len()-4], whole},
		"zlib with a wrong checksum":  {"deflate", zl.String()[:zl.Len()-1] + "\xff", whole},
		"zlib and junk":               {"deflate", zl.String() + "junk", whole},
		"brotli and junk":             {"br", br + "junk", whole},
		"zstd and junk":               {"zstd", zs + "junk and more", whole},
		"two zstd frames":             {"zstd", zs + zs, func(body string) bool { return body == page+page }},
		"zstd without its checksum":   {"zstd", zs[:len(zs)-4], whole},
		"zstd with half of it":        {"zstd", zs[:len(zs)-2], whole},
		"zstd with a wrong checksum":  {"zstd", zs[:len(zs)-1] + "\xff", whole},
	} {
		t.Run(name, func(t *testing.T) {
			srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Encoding", tc.encoding)
				w.Header().Set("Content-Type", "text/html")
				_, _ = io.WriteString(w, tc.body)
			})
			c := testClient(t, Options{})
			if res := get(t, c, Request{URL: srv.URL}); !tc.read(string(res.Body)) || res.Truncated {
				t.Errorf("got %d bytes, truncated %v", len(res.Body), res.Truncated)
			}
			if res := get(t, c, Request{URL: srv.URL, Discard: true}); res.StatusCode != http.StatusOK {
				t.Errorf("a check got %+v", res)
			}
		})
	}
}

// Of zstd that is cut anywhere, the start of the page is read.
func TestZstdIsCut(t *testing.T) {
	t.Parallel()
	random := make([]byte, 700) // for blocks that are not compressed
	_, _ = rand.NewChaCha8([32]byte{}).Read(random)
	for _, page := range []string{
		"<title>Hi</title>", strings.Repeat("a", 30_000), strings.Repeat("<p>hello ", 50) + string(random) + strings.Repeat("b", 500),
	} {
		for _, sum := range []bool{false, true} {
			var b bytes.Buffer
			w, err := zstd.NewWriter(&b, zstd.WithEncoderCRC(sum))
			if err != nil {
				t.Fatal(err)
			}
			for part := range slices.Chunk([]byte(page), max(100, len(page)/8)) { // several blocks
				_, _ = w.Write(part)
				_ = w.Flush()
			}
			_ = w.Close()
			for cut := 4; cut <= b.Len(); cut++ {
				in := &body{src: bytes.NewReader(b.Bytes()[:cut]), left: PageLimit}
				if err := in.decode([]string{"zstd"}); err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(in.src)
				if err != nil || !strings.HasPrefix(page, string(got)) || cut == b.Len() && len(got) < len(page) {
					t.Errorf("%.20s, checksum %v, %d of %d bytes: got %d bytes, %v", page, sum, cut, b.Len(), len(got), err)
				}
			}
		}
	}
}

// A connection that closes in the middle of compressed data is no end, not even between two streams.
func TestCompressedBodyIsCutOff(t *testing.T) {
	const answer = "HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s"
	gz := string(gzipped(t, page))
	for encoding, stream := range map[string]string{"gzip": gz, "zstd": zstded(t, page), "br": brotlied(t, page)} {
		url := rawServer(t, fmt.Sprintf(answer, encoding, 2*len(stream), stream), false)
		for _, discard := range []bool{false, true} {
			_, err := testClient(t, Options{}).Fetch(t.Context(), Request{URL: url, Discard: discard})
			fails(t, err, KindReset, "connection closed early")
		}
	}
	url := rawServer(t, fmt.Sprintf(answer, "gzip", len(gz), gz[:len(gz)-8]), false)
	_, err := testClient(t, Options{}).Fetch(t.Context(), Request{URL: url})
	fails(t, err, KindReset, "connection closed early")
}
