package crawl_test

import (
	"maps"
	"net/http"
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

// A request may take longer than a minute if HTTP_TIMEOUT allows it.
func TestLongRequest(t *testing.T) {
	if crawljobs.LongRequest(t.Context()) {
		t.Error("cancelled")
	}
}
