package links_test

import (
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/links"
)

// Links that were expired by hand or long ago do not need attention.
func TestNeedAttention(t *testing.T) {
	each(t, func(t fixture) {
		fall := func(name string, answer func(url string)) links.Link {
			l := t.add("https://a.test/" + name)
			answer(l.URL)
			l, err := t.Refresh(t.Context(), l.ID)
			t.must(err)
			t.clock.Advance(time.Minute)
			return l
		}
		gone := func(url string) { t.web.set(url, links.Page{Status: 404}) }
		silent := func(url string) { t.web.fail(url, &links.FetchError{Reason: "timed out"}) }
		fall("gone-long-ago", gone)
		t.clock.Advance(links.RecentDays*models.Day - time.Minute)
		lately := fall("gone", gone)
		fall("suspect-1", silent)
		second := fall("suspect-2", silent)
		byHand := fall("by-hand", silent)
		_, err := t.SetExpired(t.Context(), true, byHand.ID)
		t.must(err)
		fall("moved", func(url string) { t.web.set(url, links.Page{Status: 200, URL: url + "/new", Permanent: true}) })
		fall("blocked", func(url string) { t.web.set(url, links.Page{Status: 403}) })

		a, err := t.NeedAttention(t.Context(), 1)
		t.must(err)
		if len(a.Gone) != 1 || a.Gone[0].ID != lately.ID || a.GoneCount != 1 || len(a.Dead) != 0 || len(a.Moved) != 1 {
			t.Errorf("got %+v", a)
		}
		if len(a.Suspect) != 1 || a.Suspect[0].ID != second.ID { // most recent
			t.Errorf("got %+v", a.Suspect)
		}
		if a, err = t.NeedAttention(t.Context(), 10); err != nil || len(a.Suspect) != 2 {
			t.Errorf("got %+v, %v", a.Suspect, err)
		}
		counts, err := t.Counts(t.Context())
		t.must(err)
		if counts.Health[links.Suspect] != 2 || counts.Health[links.Moved] != 1 {
			t.Errorf("got %+v", counts)
		}
		for shown, want := range map[links.Shown]int{links.ShowRecent: 2, links.ShowExpired: 3} {
			if got := t.urls(links.Filter{Shown: shown}); len(got) != want {
				t.Errorf("%s: %q", shown, got)
			}
		}
	})
}
