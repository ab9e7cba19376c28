package links_test

import (
	"reflect"
	"testing"

	"linkwatch/models"
	"linkwatch/models/links"
)

func TestRecordOfABatch(t *testing.T) {
	each(t, func(t fixture) {
		fine, gone, moved := t.titled("https://a.test/fine", "Fine", "x"), t.add("https://a.test/gone", "x", "only"), t.add("https://a.test/moved", "x")
		t.web.set(gone.URL, links.Page{Status: 404})
		t.web.set(moved.URL, links.Page{Status: 200, URL: "https://b.test/", Permanent: true})
		t.clock.Advance(2 * week)
		stored, err := t.Record(t.Context(), t.check(t.claim(t.lease, 10)...)...)
		t.must(err)
		if len(stored) != 3 {
			t.Errorf("stored %+v", stored)
		}
		for _, l := range stored {
			if got := t.get(l.ID); !reflect.DeepEqual(got, l) {
				t.Errorf("returned %+v, stored %+v", l, got)
			}
		}
		for id, want := range map[string]links.Health{fine.ID: links.OK, gone.ID: links.Dead, moved.ID: links.Moved} {
			l := t.get(id)
			if l.Health != want || l.Expired() != (want == links.Dead) || !l.LastCheckedAt.Equal(t.clock.Now()) {
				t.Errorf("%s: %+v", l.URL, l)
			}
		}
		if x, only := t.tag("x").LinkCount, t.tag("only").LinkCount; x != 2 || only != 0 {
			t.Errorf("link_count of tags: %d and %d", x, only)
		}
		for health, want := range map[links.Health]int{links.Dead: 1, links.Moved: 1, links.OK: 1} {
			if got := t.urls(links.Filter{Health: health, Shown: links.ShowAll}); len(got) != want {
				t.Errorf("filter by %s lists %q", health, got)
			}
		}
		t.clock.Advance(2 * week)
		if due := t.claim(t.lease, 10); len(due) != 2 {
			t.Errorf("%d unclaimed due links, want 2", len(due))
		}
	})
}

func TestLinksChangeDuringChecks(t *testing.T) {
	each(t, func(t fixture) {
		deleted, lost, restored, kept := t.add("https://a.test/1"), t.add("https://a.test/2"), t.add("https://a.test/3"), t.add("https://a.test/4")
		for _, l := range []links.Link{deleted, lost, restored, kept} {
			t.web.set(l.URL, links.Page{Status: 500})
		}
		t.clock.Advance(2 * week)
		due := t.claim(t.lease, 10)
		for i := range due {
			if due[i].ID == lost.ID {
				due[i].ClaimedBy = t.instance("k_other") // claim of a lost lease
			}
		}
		done := t.check(due...)
		_, err := t.Delete(t.Context(), deleted.ID)
		t.must(err)
		c, err := t.Delete(t.Context(), restored.ID)
		t.must(err)
		_, err = t.Undo(t.Context(), c.ID)
		t.must(err)
		own := "Mine"
		_, err = t.Edit(t.Context(), kept.ID, links.Edit{Title: &own})
		t.must(err)
		_, err = t.View(t.Context(), kept.ID)
		t.must(err)

		stored, err := t.Record(t.Context(), done...)
		t.must(err)
		if len(stored) != 1 || stored[0].ID != kept.ID {
			t.Errorf("stored %+v", stored)
		}
		_, err = t.Get(t.Context(), deleted.ID)
		t.wantCode(err, models.CodeNotFound)
		for _, l := range []links.Link{lost, restored} {
			if got := t.get(l.ID); got.Health != links.OK || got.LastCheckedAt != l.LastCheckedAt {
				t.Errorf("got %+v", got)
			}
		}
		if got := t.get(kept.ID); got.Health != links.Suspect || got.Title != own || got.ViewCount != 1 {
			t.Errorf("got %+v", got)
		}
		if due := t.claim(t.lease, 10); len(due) != 1 || due[0].ID != restored.ID { // the restored link is unclaimed, the lost one is claimed
			t.Errorf("due: %+v", due)
		}
	})
}

// A change of a claimed link does not end its claim.
func TestClaimsOutliveChanges(t *testing.T) {
	each(t, func(t fixture) {
		l := t.add("https://a.test/")
		t.clock.Advance(2 * week)
		due := t.claim(t.lease, 1)
		notes := "x"
		_, err := t.Edit(t.Context(), l.ID, links.Edit{Notes: &notes})
		t.must(err)
		_, err = t.Refresh(t.Context(), l.ID)
		t.must(err)
		_, err = t.SetExpired(t.Context(), true, l.ID)
		t.must(err)
		_, err = t.SetExpired(t.Context(), false, l.ID)
		t.must(err)
		t.clock.Advance(2 * week)
		if again := t.claim(t.instance("k_other"), 1); len(again) != 0 {
			t.Errorf("claimed twice: %+v", again)
		}
		if stored, err := t.Record(t.Context(), t.check(due...)...); err != nil || len(stored) != 1 {
			t.Errorf("stored %+v, %v", stored, err)
		}
	})
}

func TestRecheckNow(t *testing.T) {
	each(t, func(t fixture) {
		l := t.add("https://a.test/", "x")
		t.web.set(l.URL, links.Page{Status: 410})
		got, err := t.Recheck(t.Context(), l.ID)
		t.must(err)
		if !got.Expired() || t.tag("x").LinkCount != 0 || len(t.urls(links.Filter{})) != 0 {
			t.Errorf("got %+v", got)
		}
		_, err = t.Recheck(t.Context(), models.NewID(models.KindLink))
		t.wantCode(err, models.CodeNotFound)
	})
}
