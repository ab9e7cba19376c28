//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"linkwatch/models/modelstest"
)

// busyText is the error of a request that could not fetch a page in time.
const busyText = "Too many pages are being fetched right now. Try again in a few seconds."

// slowSaves is the number of concurrent saves of pages that do not respond. It is many times the fetch budget.
const slowSaves = 160

// saveSlowly saves pages of a host that never responds, and calls responded with each response. budgetUsed waits until
// the fetch budget is used.
func saveSlowly(s *Server, responded func(res *http.Response, p problem)) (budgetUsed func(), all *sync.WaitGroup) {
	var asked atomic.Int64
	silent := hosts(s.t, 1, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		<-r.Context().Done()
	}))[0]
	all = &sync.WaitGroup{}
	for i := range slowSaves {
		all.Go(func() {
			body, err := json.Marshal(map[string]any{"url": fmt.Sprintf("%s/%d", silent, i)})
			if err != nil {
				s.t.Error(err)
				return
			}
			res, err := http.Post(s.URL+"/v1/links", "application/json", bytes.NewReader(body))
			if err != nil {
				s.t.Error(err)
				return
			}
			defer res.Body.Close()
			var p problem
			if err := json.NewDecoder(res.Body).Decode(&p); err != nil {
				s.t.Errorf("status %d: %v", res.StatusCode, err)
			}
			responded(res, p)
		})
	}
	return func() { modelstest.Eventually(s.t, "the budget is used up", func() bool { return asked.Load() == 16 }) }, all
}

// Saves of pages that do not respond have their own fetch budget. Targets are checked meanwhile, and saves beyond the
// budget get an error with Retry-After.
func TestSlowSavesDoNotDelayChecks(t *testing.T) {
	t.Parallel() // waits for saves to time out
	web, s := site(t), Start(t, "CHECK_INTERVAL=1s")
	s.becomes(s.addTarget(web.set("/watched", status(200))).ID, "up")

	before := web.requests("/watched")
	var (
		mu       sync.Mutex
		answered = map[int]int{} // by status
	)
	_, all := saveSlowly(s, func(res *http.Response, p problem) {
		mu.Lock()
		defer mu.Unlock()
		answered[res.StatusCode]++
		if res.StatusCode == http.StatusServiceUnavailable &&
			(res.Header.Get("Retry-After") != "5" || p.Detail != busyText) {
			t.Errorf("got Retry-After %q, %+v", res.Header.Get("Retry-After"), p)
		}
	})
	all.Wait()
	// Saves beyond the budget waited five seconds before they were refused.
	if checks := web.requests("/watched") - before; checks < 3 {
		t.Errorf("got %d checks of a 1 s target meanwhile", checks)
	}
	refused, failed := answered[http.StatusServiceUnavailable], answered[http.StatusUnprocessableEntity]
	if failed < 16 || refused < slowSaves/2 || failed+refused != slowSaves {
		t.Errorf("got responses by status %v", answered)
	}
	if _, total := s.found("/v1/links?expired=all"); total != 0 {
		t.Errorf("got %d stored links, want 0", total)
	}
}

// A preview beyond the budget shows an error, and the form keeps its input.
func TestPreviewBeyondTheBudget(t *testing.T) {
	t.Parallel() // waits for saves to time out
	web, s := site(t), Start(t)
	b := browse(t, s, wide, "/links")
	b.expect("status of 503") // the browser logs the error response
	budgetUsed, all := saveSlowly(s, func(*http.Response, problem) {})
	defer all.Wait()
	budgetUsed()
	b.fill("#url", web.URL+"/go-memory")
	b.has("#preview .field-error")
	if said := eval[string](b, `document.querySelector("#preview").innerText.trim()`); said != busyText {
		t.Errorf("got preview %q", said)
	}
	if typed := eval[string](b, `document.querySelector("#url").value`); typed != web.URL+"/go-memory" {
		t.Errorf("got form input %q", typed)
	}
}
