package links_test

import (
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
			t.Errorf("%+v", got)
		}
		if len(t.urls(links.Filter{Query: "new"})) != 1 || len(t.urls(links.Filter{Query: "title:old"})) != 0 {
			t.Error("the index does not know the new title")
		}

		own := "Mine"
		_, err = t.Edit(t.Context(), l.ID, links.Edit{Title: &own})
		t.must(err)
		got, err = t.Refresh(t.Context(), l.ID)
		t.must(err)
		if got.Title != "Mine" || got.FetchedTitle != "New" {
			t.Errorf("an own title: %+v", got)
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
		case <-t.RefreshWanted():
		default:
			t.Error("the worker was not woken")
		}
		_, err = t.Delete(t.Context(), gone.ID)
		t.must(err)
		items, err := t.ClaimRefreshes(t.Context(), 10)
		t.must(err)
		if len(items) != 2 {
			t.Fatalf("claimed %+v", items)
		}
		for _, item := range items {
			t.must(t.FinishRefresh(t.Context(), item))
		}
		got, err := t.RefreshOf(t.Context(), r.ID)
		t.must(err)
		if got.Total != 3 || got.Done != 3 || got.Failed != 1 || !got.Finished() || t.get(ok.ID).Title != "Fresh" {
			t.Errorf("%+v", got)
		}

		t.clock.Advance(25 * time.Hour)
		_, err = t.Purge(t.Context(), t.Context())
		t.must(err)
		_, err = t.RefreshOf(t.Context(), r.ID)
		t.wantCode(err, models.CodeNotFound)
	})
}

func TestRefreshClaims(t *testing.T) {
	each(t, func(t fixture) {
		l := t.add("https://a.test/")
		r, err := t.StartRefresh(t.Context(), l.ID)
		t.must(err)
		claim := func(want int) []links.RefreshItem {
			t.Helper()
			items, err := t.ClaimRefreshes(t.Context(), 5)
			t.must(err)
			if len(items) != want {
				t.Fatalf("claimed %d, want %d", len(items), want)
			}
			return items
		}
		items := claim(1)
		claim(0)
		t.must(t.ReleaseRefreshes(t.Context(), items...)) // the worker stops
		claim(1)                                          // another takes it, and is killed
		t.clock.Advance(9 * time.Minute)
		claim(0)
		t.clock.Advance(2 * time.Minute)
		items = claim(1)

		t.web.fail(l.URL, &links.FetchError{Reason: "asked to wait", RetryAfter: 20 * time.Minute})
		t.must(t.FinishRefresh(t.Context(), items[0])) // the link waits until the pause is over
		t.clock.Advance(15 * time.Minute)
		claim(0)
		got, err := t.RefreshOf(t.Context(), r.ID)
		t.must(err)
		if got.Finished() || got.Failed != 0 {
			t.Errorf("%+v", got)
		}
		t.clock.Advance(6 * time.Minute)
		items = claim(1)
		t.web.set(l.URL, links.Page{Status: 200})
		t.must(t.FinishRefresh(t.Context(), items[0]))
		if got, err = t.RefreshOf(t.Context(), r.ID); err != nil || !got.Finished() || got.Failed != 0 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
