package crawl_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// tagged is a page with an ETag that never changes.
func tagged(page http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		page(w, r)
	}
}

// The links of an unchanged page are followed even if its last fetch did not follow them:
// a manual fetch, or one at the maximum depth.
func TestLinksOfUnchangedPagesAreFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, modelstest.New(t))
	s := newSite(t, map[string]http.HandlerFunc{"/": html("Home", "/a"), "/a": tagged(html("A", "/b")), "/b": html("B")})
	w.start()
	if _, _, err := w.store.AddEntry(t.Context(), s.URL+"/a", ""); err != nil {
		t.Fatal(err)
	}
	modelstest.Eventually(t, "the manual entry is fetched", func() bool { return w.entries(s.URL)["/a"] == "done " })
	one, three := 1, 3
	j := w.job(s.URL + "/")
	if _, err := w.store.EditSource(t.Context(), j.SourceID, crawl.SourceEdit{MaxDepth: &one, RateLimitMS: new(int)}); err != nil {
		t.Fatal(err)
	}
	w.ended(j)
	if _, err := w.store.EditSource(t.Context(), j.SourceID, crawl.SourceEdit{MaxDepth: &three}); err != nil {
		t.Fatal(err)
	}
	if e := w.ended(w.job(s.URL + "/")); e.ItemsCrawled != 3 || s.count("/b") == 0 {
		t.Errorf("got %d pages and %d requests for /b", e.ItemsCrawled, s.count("/b"))
	}
}

// Two instances together keep the pause between requests, including robots.txt.
func TestPauseBetweenRequests(t *testing.T) {
	each(t, func(w *world) {
		const pause = 300 * time.Millisecond
		var mu sync.Mutex
		var at []time.Time
		note := func(page http.HandlerFunc) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				at = append(at, time.Now())
				mu.Unlock()
				page(w, r)
			}
		}
		s := newSite(w.T, map[string]http.HandlerFunc{
			"/robots.txt": note(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte("User-agent: *\nCrawl-delay: 0.3\n"))
			}),
			"/": note(html("Home", "/a", "/b")), "/a": note(html("A")), "/b": note(html("B")),
		})
		w.start()
		w.start()
		if e := w.ended(w.job(s.URL + "/")); e.ItemsCrawled != 3 {
			t.Errorf("got %+v", e)
		}
		mu.Lock()
		defer mu.Unlock()
		for i := 1; i < len(at); i++ {
			if d := at[i].Sub(at[i-1]); d < pause-10*time.Millisecond { // tolerance for the network
				t.Errorf("request %d: got a pause of %v", i, d)
			}
		}
	})
}

// A page with ten thousand long links uses limited memory and does not stop the crawls of
// other hosts.
func TestPagesWithManyLongLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, modelstest.New(t))
	long := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<base href="/` + strings.Repeat("a/b", 600) + `/">`))
		for i := range 10_000 {
			_, _ = w.Write([]byte("<a href=" + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676)) + ">x</a>"))
		}
	}
	hostile := newSite(t, map[string]http.HandlerFunc{"/": long})
	plain := newSite(t, map[string]http.HandlerFunc{"/": html("Home", "/a"), "/a": html("A")})
	none := 0
	one := w.job(hostile.URL+"/", func(n *crawl.NewJob) { n.Source.MaxDepth = 1; n.MaxRetries = &none })
	two := w.job(plain.URL + "/")
	w.start()
	if e := w.ended(two); e.Status != crawl.ExecutionCompleted || e.ItemsCrawled != 2 {
		t.Errorf("plain site: got %+v", e)
	}
	e := w.ended(one)
	if e.Status != crawl.ExecutionCompleted || e.Fetched+e.Failed > 1000 || e.Fetched+e.Failed < 100 {
		t.Errorf("hostile site: got %+v", e)
	}
}
