//go:build e2e

package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"
)

// bomb serves 1 GiB of spaces after a title, compressed to 1 MB. It repeats a gzip member, because compressing all of it
// takes seconds.
func bomb(t *testing.T) http.HandlerFunc {
	pack := func(text string) []byte {
		var packed bytes.Buffer
		zip := gzip.NewWriter(&packed)
		if _, err := io.WriteString(zip, text); err != nil || zip.Close() != nil {
			t.Fatal("compress the bomb: ", err)
		}
		return packed.Bytes()
	}
	packed := append(pack("<html><head><title>Bomb</title><!--"), bytes.Repeat(pack(strings.Repeat(" ", 1<<20)), 1<<10)...)
	return func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		rw.Header().Set("Content-Encoding", "gzip")
		_, _ = rw.Write(packed)
	}
}

// raw responds with exactly these bytes.
func raw(contentType, body string) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(rw, body)
	}
}

const memoryAllowance = 150 << 20 // maximum memory for bad pages, in bytes

// Malicious and broken pages result in a clear error or a truncated value, use bounded memory, and leave no partial data.
func TestBadPages(t *testing.T) {
	t.Parallel()
	web, s := site(t), Start(t)
	s.save(web.URL + "/warm-up")
	before := s.PeakMemory()

	const html = "text/html; charset=utf-8"
	resolves := func(title string) func(t *testing.T, status int, l link, p problem) {
		return func(t *testing.T, status int, l link, p problem) {
			t.Helper()
			if status != 201 || l.Title != title {
				t.Errorf("got %d with title %q (%s), want 201 and %q", status, l.Title, p.Detail, title)
			}
		}
	}
	unresolvable := func(t *testing.T, status int, _ link, p problem) {
		t.Helper()
		if status != 422 || !strings.HasSuffix(p.Type, "/probs/link-unresolvable") || p.Detail == "" {
			t.Errorf("got %d %s %q, want 422 link-unresolvable with a reason", status, p.Type, p.Detail)
		}
	}
	for path, c := range map[string]struct {
		page http.HandlerFunc
		want func(t *testing.T, status int, l link, p problem)
	}{
		"/100-megabytes": {pour("<title>Huge</title>", "<p>more</p>", 100<<20), resolves("Huge")},
		"/endless-body":  {pour("<head><title>Endless</title></head>", "and so on ", 0), resolves("Endless")},
		"/endless-head":  {pour("<head><title>Headless</title>", `<meta name="a" content="b">`, 0), resolves("Headless")},
		"/endless-title": {pour("<head><title>", "a ", 0), resolves(strings.TrimSpace(strings.Repeat("a ", 250)))},
		"/endless-bytes": {pour("\x00\x01\x02", "\xff\xfe\x00", 0), resolves("")},
		"/gzip-bomb":     {bomb(t), resolves("Bomb")},
		"/loop":          {redirect(302, "/loop"), unresolvable},
		"/missing":       {status(404), unresolvable},
		"/secret":        {status(401), unresolvable},
		"/broken":        {status(500), unresolvable},
		"/never":         {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, unresolvable}, // 4 s
		"/cut":           {func(rw http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }, unresolvable},
		"/latin1-said-to-be-utf8": {raw(html, "<title>caf\xe9</title>"), func(t *testing.T, status int, l link, _ problem) {
			if status != 201 || !utf8.ValidString(l.Title) || !strings.HasPrefix(l.Title, "caf") {
				t.Errorf("got %d with title %q, want 201 and valid text", status, l.Title)
			}
		}},
		"/charset-of-no-name": {raw("text/html; charset=nonsense", "<title>plain</title>"), resolves("plain")},
		"/declared-latin1":    {raw("text/html", "<meta charset=iso-8859-1><title>caf\xe9</title>"), resolves("café")},
		"/megabyte-title":     {titled(strings.Repeat("word ", 200<<10)), resolves(strings.TrimSpace(strings.Repeat("word ", 100)))},
		"/nul": {raw(html, "<title>a\x00b\x00c</title>"), func(t *testing.T, status int, l link, _ problem) {
			if status != 201 || strings.ContainsFunc(l.Title, unicode.IsControl) || !strings.HasPrefix(l.Title, "a") {
				t.Errorf("got %d with title %q, want 201 and no control characters", status, l.Title)
			}
		}},
		"/right-to-left": {titled("\u202eevil\u202c \u2066safe\u2069 \u05e9\u05dc\u05d5\u05dd"), resolves("evil safe \u05e9\u05dc\u05d5\u05dd")},
	} {
		t.Run(path[1:], func(t *testing.T) {
			_, stored := s.found("/v1/links?expired=all")
			var answer json.RawMessage
			status := s.Call("POST", "/v1/links", map[string]any{"url": web.set(path, c.page), "tags": []string{"bad"}}, &answer)
			var l link
			var p problem
			if err := json.Unmarshal(answer, &l); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(answer, &p); err != nil {
				t.Fatal(err)
			}
			c.want(t, status, l, p)
			want := stored
			if status == 201 {
				want++
			}
			if _, now := s.found("/v1/links?expired=all"); now != want {
				t.Errorf("got %d stored links, want %d", now, want)
			}
		})
	}

	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			url := web.set(fmt.Sprintf("/crowd-%d", i), pour("<head><title>Crowd</title>", "<!-- blank -->", 0))
			if status, err := s.Try("POST", "/v1/links", map[string]any{"url": url}, nil); err != nil || status != 201 && status != 422 {
				t.Errorf("one of four endless pages: got status %d, %v", status, err)
			}
		})
	}
	group.Wait()
	if grown := s.PeakMemory() - before; grown > memoryAllowance {
		t.Errorf("memory grew by %d MiB at its peak, want at most %d", grown>>20, memoryAllowance>>20)
	}
}

// Requests are validated before anything is fetched or stored.
func TestBadRequests(t *testing.T) {
	t.Parallel()
	web, s := site(t), Start(t)
	many := make([]string, 65)
	for i := range many {
		many[i] = fmt.Sprintf("tag%d", i)
	}
	page := web.URL + "/page"
	for name, c := range map[string]struct {
		body any
		want int
		slug string
	}{
		"no URL":              {map[string]any{}, 400, "invalid-request"},
		"a file":              {map[string]any{"url": "file:///etc/passwd"}, 400, "invalid-request"},
		"a script":            {map[string]any{"url": "javascript:alert(1)"}, 400, "invalid-request"},
		"a password in it":    {map[string]any{"url": "http://bob:hunter2@127.0.0.1/"}, 400, "invalid-request"},
		"a NUL in the host":   {map[string]any{"url": "http://127.0.0.1\x00.example/"}, 400, "invalid-request"},
		"one slash":           {map[string]any{"url": strings.Replace(page, "//", "/", 1)}, 400, "invalid-request"},
		"no scheme":           {map[string]any{"url": strings.TrimPrefix(page, "http://")}, 400, "invalid-request"},
		"no IPv4 address":     {map[string]any{"url": "http://127.0.0.0.33/", "force": true}, 400, "invalid-request"},
		"too long":            {map[string]any{"url": page + "?" + strings.Repeat("a", 2048)}, 400, "invalid-request"},
		"65 tags":             {map[string]any{"url": page, "tags": many}, 400, "too-many-tags"},
		"an empty tag":        {map[string]any{"url": page, "tags": []string{"\u202e\x00"}}, 400, "invalid-request"},
		"a field we know not": {map[string]any{"url": page, "urll": "x"}, 400, "invalid-request"},
		"over a megabyte":     {map[string]any{"url": page, "notes": strings.Repeat("a", 1<<20)}, 413, "too-large"},
	} {
		t.Run(name, func(t *testing.T) {
			var answer json.RawMessage
			status := s.Call("POST", "/v1/links", c.body, &answer)
			var p problem
			if err := json.Unmarshal(answer, &p); err != nil {
				t.Fatal(err)
			}
			if status != c.want || !strings.HasSuffix(p.Type, "/probs/"+c.slug) {
				t.Errorf("got %d %s, want %d %s", status, p.Type, c.want, c.slug)
			}
			if strings.Contains(string(answer), "hunter2") {
				t.Errorf("the response contains the password: %s", answer)
			}
		})
	}
	if _, total := s.found("/v1/links?expired=all"); total != 0 || web.requests("/page") != 0 {
		t.Errorf("got %d stored links and %d fetched pages after bad requests, want 0", total, web.requests("/page"))
	}

	var l link
	status := s.Call("POST", "/v1/links", map[string]any{"url": strings.Replace(page, "/page", "/\r\npa\tge\x00\n", 1), "tags": []string{"a\x00b\u202ec"}, "notes": "one\x00\r\ntwo\u202e"}, &l)
	if status != 201 || len(l.Tags) != 1 || l.Tags[0] != "abc" || l.Notes != "one\ntwo" || web.requests("/page") != 1 {
		t.Errorf("control characters in URL, tags and notes: got %d %q %q, want them removed", status, l.Tags, l.Notes)
	}
}
