//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"sync"
	"testing"
)

// A link that was acknowledged with 201 survives kill -9, with its tags and in the search index.
func TestKillWhileWriting(t *testing.T) {
	t.Parallel()
	web := site(t)
	store := storeIn(t)
	s := Start(t, store)
	const writers, enough = 6, 120
	var (
		mu    sync.Mutex
		acked []link
		group sync.WaitGroup
		full  = make(chan struct{})
	)
	for w := range writers {
		group.Go(func() {
			for i := 0; ; i++ {
				var l link
				status, err := s.Try("POST", "/v1/links", map[string]any{
					"url": fmt.Sprintf("%s/crash-%d-%d", web.URL, w, i), "tags": []string{"crash", fmt.Sprintf("writer%d", w)},
				}, &l)
				if err != nil {
					return // the process was killed
				}
				if status != 201 {
					t.Errorf("add link: got status %d", status)
					return
				}
				mu.Lock()
				acked = append(acked, l)
				if len(acked) == enough {
					close(full)
				}
				mu.Unlock()
			}
		})
	}
	<-full
	s.Kill()
	group.Wait()

	again := Start(t, store)
	for _, want := range acked {
		var l link
		if status := again.Call("GET", "/v1/link/"+want.ID, nil, &l); status != 200 || l.URL != want.URL || !slices.Equal(l.Tags, want.Tags) {
			t.Fatalf("acknowledged %+v, got status %d and %+v", want, status, l)
		}
		results, _ := again.found("/v1/search?q=url:" + want.URL[len(web.URL)+1:] + "+tag:crash")
		if !slices.ContainsFunc(results, func(l link) bool { return l.ID == want.ID }) {
			t.Fatalf("search does not find %s", want.URL)
		}
	}
	_, total := again.found("/v1/links")
	if total < len(acked) || total > len(acked)+writers {
		t.Errorf("got %d stored links, with %d acknowledged and at most %d running requests", total, len(acked), writers)
	}
	if _, tagged := again.found("/v1/search?q=tag:crash"); tagged != total {
		t.Errorf("got %d of %d links with a tag: some are incomplete", tagged, total)
	}
	again.Stop()
	checkIntegrity(t, again.store)
}
