package crawl_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// A crawl does not leave the port of its source, by links, canonical links or redirects, unless the allowed domains name the other
// port. Links to other ports are discovered links.
func TestCrawlStaysOnItsPort(t *testing.T) {
	t.Parallel()
	for name, named := range map[string]bool{"by default": false, "with the other port": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, modelstest.New(t))
			other := newSite(t, map[string]http.HandlerFunc{"": html("Other")})
			s := newSite(t, map[string]http.HandlerFunc{
				"/": html("Home", "/a", "/moved", "/canonical", other.URL+"/linked"), "/a": html("A"),
				"/moved": func(w http.ResponseWriter, r *http.Request) {
					http.Redirect(w, r, other.URL+"/moved", http.StatusFound)
				},
				"/canonical": func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "text/html")
					fmt.Fprintf(w, "<html><head><link rel=canonical href=%q></head><body>Text</body></html>", other.URL+"/canonical")
				},
			})
			w.start()
			e := w.ended(w.job(s.URL+"/", func(n *crawl.NewJob) {
				if named {
					n.Source.AllowedDomains = []string{"127.0.0.1", models.HostPort(other.URL)}
				}
			}))
			want, discovered := 0, []string{other.URL + "/linked", other.URL + "/moved"}
			if named {
				want, discovered = 1, nil
			}
			if e.Status != crawl.ExecutionCompleted || s.count("/a") != 1 {
				t.Errorf("got %+v", e)
			}
			for _, path := range []string{"/linked", "/moved", "/canonical"} {
				if n := other.count(path); n != want {
					t.Errorf("got %d requests for %s of the other port, want %d", n, path, want)
				}
			}
			list, err := w.store.DiscoveredLinks(w.Context(), crawl.DiscoveredFilter{}, models.Cursor{}, 10)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range list.Items {
				got = append(got, d.URL)
			}
			if slices.Sort(got); !slices.Equal(got, discovered) {
				t.Errorf("got discovered links %q", got)
			}
		})
	}
}

// Stopping a run cancels its requests, on every instance. The job keeps its schedule.
func TestStopRunDuringACrawl(t *testing.T) {
	each(t, func(w *world) {
		asked, cancelled := make(chan struct{}), make(chan struct{})
		s := newSite(w.T, map[string]http.HandlerFunc{
			"/": html("Home", "/a", "/b"), "/b": html("B"),
			"/a": func(_ http.ResponseWriter, r *http.Request) {
				close(asked)
				<-r.Context().Done()
				close(cancelled)
			},
		})
		w.start()
		j := w.job(s.URL+"/", func(n *crawl.NewJob) { n.Interval.Count, n.RunNow = 600, true })
		<-asked
		got, err := w.store.Act(w.Context(), j.ID, crawl.Stop)
		if err != nil || got.Status != crawl.Scheduled || !got.NextRunAt.After(time.Now().Add(time.Minute)) {
			w.Errorf("got %+v, %v", got, err)
		}
		<-cancelled // shorter than the request timeout
		if e := w.ended(j); e.Status != crawl.ExecutionCancelled || e.CancelledBy != models.SystemOwner || s.count("/b") != 0 {
			w.Errorf("got %+v, requests %v", e, s.requests)
		}
	})
}

// The scheduler retries a failed recurring job at its next planned time.
func TestSchedulerRetriesFailedJobs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, modelstest.New(t))
	s := newSite(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }})
	w.start()
	j := w.job(s.URL+"/", func(n *crawl.NewJob) {
		n.Interval.Count, n.RunNow, n.RetryNextRun, n.MaxRetries = 600, true, true, new(0)
	})
	modelstest.Eventually(t, "the job has failed", func() bool {
		j, _ = w.store.Job(w.Context(), j.ID)
		return j.Status == crawl.Failed
	})
	if next := j.NextRun(); !next.After(time.Now()) || !j.NextRunAt.IsZero() {
		t.Fatalf("got %+v", j)
	}
	modelstest.Exec(t, w.db, "UPDATE jobs SET planned_at = 1 WHERE seq = ?", j.Seq)
	modelstest.Eventually(t, "the job has failed again", func() bool {
		j, _ = w.store.Job(w.Context(), j.ID)
		return j.Status == crawl.Failed && j.ConsecutiveFailures == 2
	})
}
