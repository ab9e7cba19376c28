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

// busyText is the error of a request that did not get its turn to fetch.
const busyText = "Too many pages are being fetched right now. Try again in a few seconds."

// slowSaves is the number of pages without a response that are saved at once: many times the budget of requests.
const slowSaves = 160

// saveSlowly saves pages of a host that never responds, and calls answered with each response of the program. begun
// waits until the budget is used up.
func saveSlowly(s *Server, answered func(res *http.Response, p problem)) (begun func(), all *sync.WaitGroup) {
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
			answered(res, p)
		})
	}
	return func() { modelstest.Eventually(s.t, "the budget is used up", func() bool { return asked.Load() == 16 }) }, all
}

// Saves of pages that do not respond have a budget of their own. Targets are checked meanwhile, and saves beyond the
// budget are refused with Retry-After.
func TestSlowSavesDoNotDelayChecks(t *testing.T) {
	t.Parallel() // it waits for saves to time out
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
			t.Errorf("Retry-After %q, %+v", res.Header.Get("Retry-After"), p)
		}
	})
	all.Wait()
	// Saves beyond the budget waited five seconds before they were refused.
	if checks := web.requests("/watched") - before; checks < 3 {
		t.Errorf("%d checks of a 1 s target meanwhile", checks)
	}
	refused, failed := answered[http.StatusServiceUnavailable], answered[http.StatusUnprocessableEntity]
	if failed < 16 || refused < slowSaves/2 || failed+refused != slowSaves {
		t.Errorf("the saves were answered %v, by status", answered)
	}
	if _, total := s.found("/v1/links?expired=all"); total != 0 {
		t.Errorf("%d links were stored", total)
	}
}

// A preview that does not get its turn shows the error in its place, and the form keeps its input.
func TestPreviewBeyondTheBudget(t *testing.T) {
	t.Parallel() // it waits for saves to time out
	web, s := site(t), Start(t)
	b := browse(t, s, wide, "/links")
	b.expect("status of 503") // the browser logs the answer that the form shows
	begun, all := saveSlowly(s, func(*http.Response, problem) {})
	defer all.Wait()
	begun()
	b.fill("#url", web.URL+"/go-memory")
	b.has("#preview .field-error")
	if said := eval[string](b, `document.querySelector("#preview").innerText.trim()`); said != busyText {
		t.Errorf("the preview says %q", said)
	}
	if typed := eval[string](b, `document.querySelector("#url").value`); typed != web.URL+"/go-memory" {
		t.Errorf("the form holds %q", typed)
	}
}
