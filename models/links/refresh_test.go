package links_test

import (
	"fmt"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/links"
)

func TestRefresh(t *testing.T) {
	each(t, func(t fixture) {
		l := t.titled("https://a.test/", "Old")
		_, err := t.View(t.Context(), l.ID)
		t.must(err)
		t.clock.Advance(time.Hour)
		t.web.set(l.URL, links.Page{Status: 200, URL: l.URL, Title: "New"})
		got, err := t.Refresh(t.Context(), l.ID)
		t.must(err)
		if got.Title != "New" || got.CreatedAt != l.CreatedAt || got.ViewCount != 1 || got.UpdatedAt == l.UpdatedAt {
			t.Errorf("got %+v", got)
		}
		if len(t.urls(links.Filter{Query: "new"})) != 1 || len(t.urls(links.Filter{Query: "title:old"})) != 0 {
			t.Error("new title is not in the index")
		}

		own := "Mine"
		_, err = t.Edit(t.Context(), l.ID, links.Edit{Title: &own})
		t.must(err)
		got, err = t.Refresh(t.Context(), l.ID)
		t.must(err)
		if got.Title != "Mine" || got.FetchedTitle != "New" {
			t.Errorf("own title: %+v", got)
		}

		t.web.set(l.URL, links.Page{Status: 503, Title: "Sorry"})
		got, err = t.Refresh(t.Context(), l.ID)
		t.must(err)
		if got.FetchedTitle != "New" || got.Health != links.Suspect || got.Expired() {
			t.Errorf("a failed refresh: %+v", got)
		}
		empty := ""
		got, err = t.Edit(t.Context(), l.ID, links.Edit{Title: &empty})
		t.must(err)
		if got.Title != "New" {
			t.Errorf("the cleared title: %+v", got)
		}

		t.web.set(l.URL, links.Page{Status: 410})
		got, err = t.Refresh(t.Context(), l.ID)
		t.must(err)
		if !got.Expired() || got.Title != "New" {
			t.Errorf("gone: %+v", got)
		}
		_, err = t.Refresh(t.Context(), models.NewID(models.KindLink))
		t.wantCode(err, models.CodeNotFound)
	})
}

func TestRefreshInTheBackground(t *testing.T) {
	each(t, func(t fixture) {
		ok, bad, gone := t.add("https://a.test/ok"), t.add("https://a.test/bad"), t.add("https://a.test/gone")
		t.web.set(ok.URL, links.Page{Status: 200, Title: "Fresh"})
		t.web.fail(bad.URL, &links.FetchError{Reason: "timed out"})
		r, err := t.StartRefresh(t.Context(), ok.ID, bad.ID, gone.ID, models.NewID(models.KindLink))
		t.must(err)
		select {
		case <-t.RefreshQueued():
		default:
			t.Error("no value from RefreshQueued")
		}
		_, err = t.Delete(t.Context(), gone.ID)
		t.must(err)
		items := t.claimRefreshes(t.lease, 10)
		if len(items) != 2 {
			t.Fatalf("claimed %+v", items)
		}
		t.must(t.FinishRefreshes(t.Context(), t.refetch(items...)...))
		got, err := t.RefreshOf(t.Context(), r.ID)
		t.must(err)
		if got.Total != 3 || got.Done != 3 || got.Failed != 1 || !got.Finished() || t.get(ok.ID).Title != "Fresh" {
			t.Errorf("got %+v", got)
		}
	})
}

func TestRefreshClaims(t *testing.T) {
	each(t, func(t fixture) {
		l := t.add("https://a.test/")
		r, err := t.StartRefresh(t.Context(), l.ID)
		t.must(err)
		claim := func(want int) []links.RefreshItem {
			t.Helper()
			items := t.claimRefreshes(t.lease, 5)
			if len(items) != want {
				t.Fatalf("claimed %d, want %d", len(items), want)
			}
			return items
		}
		items := claim(1)
		claim(0)
		t.must(t.ReleaseRefreshes(t.Context(), releases(0, items)...)) // as when the worker stops
		killed := t.instance("k_other")
		if items := t.claimRefreshes(killed, 5); len(items) != 1 || items[0].ClaimedBy != killed {
			t.Fatalf("got %+v", items)
		}
		t.clock.Advance(time.Hour)
		claim(0)
		t.endLease(killed)
		items = claim(1)

		t.web.fail(l.URL, &links.FetchError{Reason: "rate limited by the host", RetryAfter: 20 * time.Minute})
		wait := t.refetch(items...)[0].Wait
		if wait != 20*time.Minute {
			t.Errorf("wait %v", wait)
		}
		t.must(t.ReleaseRefreshes(t.Context(), releases(wait, items)...))
		t.clock.Advance(15 * time.Minute)
		claim(0)
		got, err := t.RefreshOf(t.Context(), r.ID)
		t.must(err)
		if got.Finished() || got.Failed != 0 {
			t.Errorf("got %+v", got)
		}
		t.clock.Advance(5 * time.Minute)
		items = claim(1)
		t.web.set(l.URL, links.Page{Status: 200})
		t.must(t.FinishRefreshes(t.Context(), t.refetch(items...)...))
		if got, err = t.RefreshOf(t.Context(), r.ID); err != nil || !got.Finished() || got.Failed != 0 {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

func TestQueuedLinksAreClaimedOnceInOrder(t *testing.T) {
	each(t, func(t fixture) {
		var ids []string
		for i := range 5 {
			ids = append(ids, t.add(fmt.Sprintf("https://a.test/%d", i)).ID)
		}
		first, err := t.StartRefresh(t.Context(), ids[:3]...)
		t.must(err)
		t.clock.Advance(time.Second)
		_, err = t.StartRefresh(t.Context(), ids[2:]...)
		t.must(err)
		items, next, err := t.ClaimRefreshes(t.Context(), t.lease, 2)
		t.must(err)
		if len(items) != 2 || items[0].Link.ID != ids[0] || items[1].Link.ID != ids[1] || next != first.CreatedAt {
			t.Errorf("got %+v, next %v", items, next)
		}
		t.must(t.ReleaseRefreshes(t.Context(), releases(time.Minute, items[:1])...)) // after the others
		rest, next, err := t.ClaimRefreshes(t.Context(), t.instance("k_other"), 10)
		t.must(err)
		if len(rest) != 4 || rest[0].RefreshID != first.ID || rest[0].Link.ID != ids[2] || !next.Equal(t.clock.Now().Add(time.Minute)) {
			t.Errorf("got %+v, next %v", rest, next)
		}
		t.must(t.ReleaseOtherRefreshes(t.Context(), t.lease, items[1]))
		if again := t.claimRefreshes(t.lease, 10); len(again) != 0 {
			t.Errorf("claimed twice: %+v", again)
		}
		t.must(t.ReleaseOtherRefreshes(t.Context(), t.lease))
		if again := t.claimRefreshes(t.lease, 10); len(again) != 1 || again[0].Link.ID != ids[1] {
			t.Errorf("unclaimed: %+v", again)
		}
	})
}

// A link may be in several refreshes of one batch. Results of a lost lease and of deleted links do not count.
func TestFinishedRefreshesOfABatch(t *testing.T) {
	each(t, func(t fixture) {
		good, bad, deleted := t.titled("https://a.test/good", "Old", "x"), t.add("https://a.test/bad"), t.add("https://a.test/deleted")
		t.web.fail(bad.URL, &links.FetchError{Reason: "timed out"})
		t.web.fail(deleted.URL, &links.FetchError{Reason: "timed out"})
		first, err := t.StartRefresh(t.Context(), good.ID, bad.ID)
		t.must(err)
		second, err := t.StartRefresh(t.Context(), good.ID, bad.ID, deleted.ID)
		t.must(err)
		t.web.set(good.URL, links.Page{Status: 200, Title: "New"})
		done := t.refetch(t.claimRefreshes(t.lease, 10)...)
		_, err = t.Delete(t.Context(), deleted.ID)
		t.must(err)
		for i := range done {
			if done[i].RefreshID == second.ID && done[i].Link.ID == bad.ID {
				done[i].ClaimedBy = t.instance("k_other")
			}
		}
		t.must(t.FinishRefreshes(t.Context(), done...))
		if r, err := t.RefreshOf(t.Context(), first.ID); err != nil || !r.Finished() || r.Failed != 1 {
			t.Errorf("first: %+v, %v", r, err)
		}
		if r, err := t.RefreshOf(t.Context(), second.ID); err != nil || r.Done != 2 || r.Failed != 0 {
			t.Errorf("second: %+v, %v", r, err)
		}
		if l := t.get(good.ID); l.Title != "New" || len(t.urls(links.Filter{Query: "new tag:x"})) != 1 {
			t.Errorf("got %+v", l)
		}
		if l := t.get(bad.ID); l.Health != links.Suspect || l.Failures != 1 {
			t.Errorf("got %+v", l)
		}
		t.must(t.FinishRefreshes(t.Context(), done...)) // a second time: ignored
		if r, err := t.RefreshOf(t.Context(), first.ID); err != nil || r.Failed != 1 {
			t.Errorf("counted twice: %+v, %v", r, err)
		}
	})
}
