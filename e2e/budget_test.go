package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
)

// Saves of pages that do not answer have a budget of their own: the targets are checked all the while, and saves
// beyond the budget are refused with a time to come again.
func TestSlowSavesDoNotDelayChecks(t *testing.T) {
	const saves = 160
	silent := hosts(t, 1, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))[0]
	web, s := site(t), start(t, "CHECK_INTERVAL=1s")
	s.becomes(s.watch(web.set("/watched", status(200))).ID, "up")

	before := web.requests("/watched")
	var (
		mu       sync.Mutex
		answered = map[int]int{} // by status
		all      sync.WaitGroup
	)
	for i := range saves {
		all.Go(func() {
			body, err := json.Marshal(map[string]any{"url": fmt.Sprintf("%s/%d", silent, i)})
			if err != nil {
				t.Error(err)
				return
			}
			res, err := http.Post(s.url+"/v1/links", "application/json", bytes.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			var p problem
			if err := json.NewDecoder(res.Body).Decode(&p); err != nil {
				t.Errorf("status %d: %v", res.StatusCode, err)
			}
			mu.Lock()
			defer mu.Unlock()
			answered[res.StatusCode]++
			if res.StatusCode == http.StatusServiceUnavailable &&
				(res.Header.Get("Retry-After") != "5" || p.Detail != "Too many pages are being fetched right now. Try again in a few seconds.") {
				t.Errorf("Retry-After %q, %+v", res.Header.Get("Retry-After"), p)
			}
		})
	}
	all.Wait()
	// They took five seconds and more: those that waited for their turn in vain.
	if checks := web.requests("/watched") - before; checks < 3 {
		t.Errorf("%d checks of a 1 s target meanwhile", checks)
	}
	refused, failed := answered[http.StatusServiceUnavailable], answered[http.StatusUnprocessableEntity]
	if failed < 16 || refused < saves/2 || failed+refused != saves {
		t.Errorf("the saves were answered %v, by status", answered)
	}
	if _, total := s.found("/v1/links?expired=all"); total != 0 {
		t.Errorf("%d links were stored", total)
	}
}
