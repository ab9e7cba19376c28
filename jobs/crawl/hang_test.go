package crawl_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	crawljobs "linkwatch/jobs/crawl"
	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// A run ends when its only host accepts connections and never responds, or responds a byte at a time, although the request may
// take a minute. The request is cancelled and its URL stays open for the retry, which finishes the run.
func TestHostThatHangs(t *testing.T) {
	for name, hang := range map[string]func(w http.ResponseWriter, r *http.Request){
		"no response": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"drips": func(w http.ResponseWriter, r *http.Request) {
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-r.Context().Done():
					return
				case <-tick.C:
					_, _ = w.Write([]byte(" "))
					_ = http.NewResponseController(w).Flush()
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				w.store = crawl.NewStore(w.db, time.Now, crawl.Options{StaleAfter: time.Second, FeedInterval: time.Minute})
				first, cancelled := make(chan struct{}, 1), make(chan struct{})
				first <- struct{}{}
				s := newSite(w.T, map[string]http.HandlerFunc{
					"/": html("Home", "/a"),
					"/a": func(rw http.ResponseWriter, r *http.Request) {
						select {
						case <-first:
							hang(rw, r)
							close(cancelled)
						default:
							html("A")(rw, r)
						}
					},
				})
				none := 0
				w.start()
				j := w.job(s.URL+"/", func(n *crawl.NewJob) { n.RetryBackoff = &none })
				<-cancelled
				modelstest.Eventually(w.T, "the job is completed", func() bool {
					got, err := w.store.Job(w.Context(), j.ID)
					return err == nil && got.Status == crawl.Completed
				})
				list, err := w.store.Executions(w.Context(), j, models.Cursor{}, 10)
				if err != nil || len(list.Items) != 2 || list.Items[1].Status != crawl.ExecutionFailed || list.Items[1].ErrorMessage != "no progress" || list.Items[0].RetryAttempt != 1 {
					w.Errorf("got %+v, %v", list.Items, err)
				}
				if got := w.entries(s.URL); !maps.Equal(got, map[string]string{"/": "done ", "/a": "done "}) || s.count("/") != 1 || s.count("/a") != 2 {
					w.Errorf("got %v, requests %v", got, s.requests)
				}
			})
		})
	}
}

// A robots.txt with an error status is a response: during the pause after it, the run does not end. Without a response it does.
func TestPauseAfterRobotsFailed(t *testing.T) {
	for name, c := range map[string]struct {
		robots http.HandlerFunc
		stale  int
	}{
		"status 503":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, 0},
		"no response": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				other := newSite(w.T, map[string]http.HandlerFunc{"/robots.txt": c.robots})
				s := newSite(w.T, map[string]http.HandlerFunc{"/": html("Home", other.URL+"/a")})
				w.start()
				w.job(s.URL+"/", func(n *crawl.NewJob) { n.Source.AllowedDomains = []string{"127.0.0.1", models.HostPort(other.URL)} })
				modelstest.Eventually(w.T, "robots.txt was requested", func() bool {
					return strings.HasPrefix(w.entries(other.URL)["/a"], "pending robots.txt unavailable: ")
				})
				later := crawl.NewStore(w.db, func() time.Time { return time.Now().Add(5*time.Minute + 10*time.Second) }, crawl.Options{StaleAfter: 5 * time.Minute})
				if n, err := later.ClearStaleLocks(w.Context()); err != nil || n != c.stale {
					w.Errorf("got %d stale runs, %v", n, err)
				}
			})
		})
	}
}

// A request may take longer than a minute if HTTP_TIMEOUT allows it.
func TestLongRequest(t *testing.T) {
	t.Parallel()
	if crawljobs.LongRequest(t.Context()) {
		t.Error("cancelled")
	}
}
