package crawl_test

import (
	"fmt"
	"maps"
	"net/http"
	"sync"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// After a 429 or 503 with Retry-After, a host gets no request for that time. Then the page
// is fetched.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	const pause = time.Second
	w := newWorld(t, modelstest.New(t))
	var mu sync.Mutex
	var at []time.Time
	busy := map[string]bool{"/a": true, "/b": true}
	note := func(page http.HandlerFunc, status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			at = append(at, time.Now())
			first := busy[r.URL.Path]
			delete(busy, r.URL.Path)
			mu.Unlock()
			if first {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(status)
				return
			}
			page(w, r)
		}
	}
	s := newSite(t, map[string]http.HandlerFunc{
		"/": html("Home", "/a", "/b"), "/a": note(html("A"), http.StatusTooManyRequests), "/b": note(html("B"), http.StatusServiceUnavailable),
	})
	w.start()
	e := w.ended(w.job(s.URL + "/"))
	if e.Status != crawl.ExecutionCompleted || e.ItemsCrawled != 3 || e.Failed != 0 || s.count("/a") != 2 || s.count("/b") != 2 {
		t.Errorf("got %+v, %d requests for /a, %d for /b", e, s.count("/a"), s.count("/b"))
	}
	mu.Lock()
	defer mu.Unlock()
	if len(at) != 4 {
		t.Fatalf("got %d requests", len(at))
	}
	for i := 1; i <= 2; i++ { // the first two get an error
		if d := at[i].Sub(at[i-1]); d < pause-10*time.Millisecond {
			t.Errorf("request %d: got %v after a rate limited one", i, d)
		}
	}
}

// Redirects obey robots.txt, on the same host and on another one.
func TestRedirectToDisallowedURL(t *testing.T) {
	t.Parallel()
	w := newWorld(t, modelstest.New(t))
	robots := func(rules string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "User-agent: *\n"+rules) }
	}
	to := func(url string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, url, http.StatusFound) }
	}
	other := newSite(t, map[string]http.HandlerFunc{"/robots.txt": robots("Disallow: /"), "/there": html("There")})
	s := newSite(t, map[string]http.HandlerFunc{
		"/robots.txt": robots("Disallow: /private"), "/": html("Home", "/in", "/out"), "/in": to("/private/page"), "/out": to(other.URL + "/there"),
		"/private/page": html("Private"),
	})
	w.start()
	e := w.ended(w.job(s.URL+"/", func(n *crawl.NewJob) { n.Source.AllowedDomains = []string{"127.0.0.1", models.HostPort(other.URL)} }))
	got := w.entries(s.URL)
	if got["/private/page"] != "failed disallowed by robots.txt" || w.entries(other.URL)["/there"] != "failed disallowed by robots.txt" {
		t.Errorf("got frontier %v", got)
	}
	if s.count("/in") != 1 || s.count("/out") != 1 || s.count("/private/page") != 0 || other.count("/there") != 0 || e.ItemsCrawled != 1 || e.Failed != 2 {
		t.Errorf("got requests %v and %v, execution %+v", s.requests, other.requests, e)
	}
}

// Disabling a source interrupts the executions of its jobs and their requests, with a message. After it is enabled, they
// continue: finished pages are not fetched again.
func TestSourceDisabledDuringACrawl(t *testing.T) {
	each(t, func(w *world) {
		var once sync.Once
		asked, cancelled := make(chan struct{}), make(chan struct{})
		s := newSite(w.T, map[string]http.HandlerFunc{
			"/": html("Home", "/a", "/b"), "/b": html("B", "/a"),
			"/a": func(rw http.ResponseWriter, r *http.Request) {
				once.Do(func() {
					close(asked)
					<-r.Context().Done()
					close(cancelled)
				})
				html("A")(rw, r)
			},
		})
		w.start()
		j := w.job(s.URL + "/")
		<-asked
		off, on := false, true
		if _, err := w.store.EditSource(w.Context(), j.SourceID, crawl.SourceEdit{Enabled: &off}); err != nil {
			w.Fatal(err)
		}
		e := w.ended(j)
		if e.Status != crawl.ExecutionFailed || e.ErrorMessage != "the source was disabled" || e.ItemsCrawled != 1 {
			w.Errorf("ended %+v", e)
		}
		<-cancelled // shorter than the request timeout, after which it would be retried
		j, err := w.store.Job(w.Context(), j.ID)
		if err != nil || !j.SourceDisabled || j.LastError != "the source was disabled" || j.CurrentRetryCount != 0 || j.LockToken != nil {
			w.Errorf("the job: %+v %v", j, err)
		}
		if s.count("/b") != 0 {
			w.Error("the crawl went on")
		}
		waiting := map[string]string{"/": "done ", "/a": "pending ", "/b": "pending "}
		modelstest.Eventually(w.T, "the open entries wait", func() bool { return maps.Equal(w.entries(s.URL), waiting) })
		if _, err := w.store.EditSource(w.Context(), j.SourceID, crawl.SourceEdit{Enabled: &on}); err != nil {
			w.Fatal(err)
		}
		modelstest.Eventually(w.T, "the job is completed", func() bool {
			j, err = w.store.Job(w.Context(), j.ID)
			return err == nil && j.Status == crawl.Completed
		})
		if e := w.ended(j); e.ExecutionNumber != 2 || e.ItemsCrawled != 2 || e.Metadata["continues"] == nil {
			w.Errorf("the second run: %+v", e)
		}
		if s.count("/") != 1 || s.count("/a") != 2 || s.count("/b") != 1 {
			w.Errorf("got requests %v", s.requests)
		}
	})
}
