package links_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/links"
)

func TestDeleteAndUndo(t *testing.T) {
	each(t, func(t fixture) {
		a := t.titled("https://a.test/a", "First", "x", "only")
		notes := "keep\nme"
		_, err := t.Annotate(t.Context(), a.ID, links.Annotation{Notes: &notes})
		t.must(err)
		_, err = t.View(t.Context(), a.ID)
		t.must(err)
		b := t.save("https://a.test/b", "x")
		t.save("https://a.test/c")
		before := t.get(a.ID)

		c, err := t.Delete(t.Context(), a.ID, b.ID, models.NewID(models.KindLink), "nonsense")
		t.must(err)
		if c.Links != 2 || c.Action != links.ActionDelete {
			t.Errorf("%+v", c)
		}
		_, err = t.Get(t.Context(), a.ID)
		t.wantCode(err, models.CodeNotFound)
		if got := t.tagNames(links.TagsByName); len(got) != 0 {
			t.Errorf("tags left: %q", got)
		}
		if got := t.urls(links.Filter{Query: "first"}); len(got) != 0 {
			t.Errorf("a deleted link is found: %q", got)
		}

		seen, err := t.ChangeOf(t.Context(), c.ID)
		t.must(err)
		if seen != c {
			t.Errorf("%+v, want %+v", seen, c)
		}
		undone, err := t.Undo(t.Context(), c.ID)
		t.must(err)
		if undone.Links != 2 {
			t.Errorf("%+v", undone)
		}
		after := t.get(a.ID)
		if fmt.Sprint(after.ID, after.Seq, after.Notes, after.ViewCount, after.CreatedAt, after.Tags, after.NextCheckAt) !=
			fmt.Sprint(before.ID, before.Seq, before.Notes, before.ViewCount, before.CreatedAt, before.Tags, before.NextCheckAt) {
			t.Errorf("restored %+v, want %+v", after, before)
		}
		if got := t.urls(links.Filter{Query: "tag:x"}); len(got) != 2 || t.tag("x").LinkCount != 2 {
			t.Errorf("tagged x: %q, %+v", got, t.tag("x"))
		}
		if got := t.urls(links.Filter{}); !slices.Equal(got, []string{"https://a.test/c", "https://a.test/b", "https://a.test/a"}) {
			t.Errorf("order %q", got)
		}
		_, err = t.Undo(t.Context(), c.ID)
		t.wantCode(err, models.CodeNotFound)
		_, err = t.ChangeOf(t.Context(), c.ID)
		t.wantCode(err, models.CodeNotFound)
	})
}

func TestUndoPassesOverWhatWasSavedAgain(t *testing.T) {
	each(t, func(t fixture) {
		a, b := t.save("https://a.test/a"), t.save("https://a.test/b")
		c, err := t.Delete(t.Context(), a.ID, b.ID)
		t.must(err)
		again := t.save("https://a.test/a", "new")
		undone, err := t.Undo(t.Context(), c.ID)
		t.must(err)
		if undone.Links != 1 {
			t.Errorf("%+v", undone)
		}
		if got := t.get(again.ID); !slices.Equal(got.Tags, []string{"new"}) {
			t.Errorf("%+v", got)
		}
		_, err = t.Get(t.Context(), a.ID)
		t.wantCode(err, models.CodeNotFound)
	})
}

func TestExpireReviveAndUndo(t *testing.T) {
	each(t, func(t fixture) {
		a, b := t.save("https://a.test/a", "x"), t.save("https://a.test/b", "x")
		c, err := t.SetExpired(t.Context(), true, a.ID, b.ID)
		t.must(err)
		if c.Links != 2 || t.tag("x").LinkCount != 0 || !t.get(a.ID).Expired() {
			t.Errorf("%+v", c)
		}
		none, err := t.SetExpired(t.Context(), true, a.ID)
		t.must(err)
		if none.Links != 0 || none.ID != "" {
			t.Errorf("expiring twice: %+v", none)
		}
		_, err = t.Undo(t.Context(), c.ID)
		t.must(err)
		if got := t.get(a.ID); got.Expired() || got.NextCheckAt != a.NextCheckAt || t.tag("x").LinkCount != 2 {
			t.Errorf("%+v", got)
		}

		t.web.set(a.URL, links.Page{Status: 404})
		_, err = t.Refresh(t.Context(), a.ID)
		t.must(err)
		c, err = t.SetExpired(t.Context(), false, a.ID)
		t.must(err)
		if got := t.get(a.ID); c.Action != links.ActionRevive || got.Expired() || got.Health != links.Unchecked || got.NextCheckAt.IsZero() {
			t.Errorf("revived %+v", got)
		}
		if got := t.urls(links.Filter{Query: "a.test/a"}); len(got) != 1 {
			t.Errorf("revived but not found: %q", got)
		}
		_, err = t.Undo(t.Context(), c.ID)
		t.must(err)
		if got := t.get(a.ID); !got.Expired() || got.Health != links.Dead || t.tag("x").LinkCount != 1 {
			t.Errorf("expired again %+v", got)
		}
	})
}

func TestTagAllAndUndo(t *testing.T) {
	each(t, func(t fixture) {
		a, b := t.save("https://a.test/a", "have"), t.save("https://a.test/b")
		c, err := t.TagAll(t.Context(), []string{"HAVE", "new"}, a.ID, b.ID)
		t.must(err)
		if c.Links != 2 || !slices.Equal(t.get(b.ID).Tags, []string{"have", "new"}) {
			t.Errorf("%+v, tags %q", c, t.get(b.ID).Tags)
		}
		_, err = t.Undo(t.Context(), c.ID)
		t.must(err)
		if !slices.Equal(t.get(a.ID).Tags, []string{"have"}) || len(t.get(b.ID).Tags) != 0 {
			t.Errorf("tags %q and %q", t.get(a.ID).Tags, t.get(b.ID).Tags)
		}
		if got := t.tagNames(links.TagsByName); !slices.Equal(got, []string{"have"}) {
			t.Errorf("tags %q", got)
		}

		full := make([]string, 64)
		for i := range full {
			full[i] = fmt.Sprint("t", i)
		}
		_, err = t.AddTags(t.Context(), b.ID, full)
		t.must(err)
		_, err = t.TagAll(t.Context(), []string{"straw"}, a.ID, b.ID)
		t.wantCode(err, models.CodeTooManyTags)
		if got := t.get(a.ID).Tags; slices.Contains(got, "straw") {
			t.Errorf("half tagged: %q", got)
		}
	})
}

func TestBulkIsBounded(t *testing.T) {
	each(t, func(t fixture) {
		_, err := t.Delete(t.Context(), strings.Split(strings.Repeat("x ", links.MaxBulk+1), " ")...)
		t.wantCode(err, models.CodeInvalid)
		c, err := t.Delete(t.Context())
		t.must(err)
		if c.Links != 0 || c.ID != "" {
			t.Errorf("%+v", c)
		}
	})
}

func TestRefreshInTheBackground(t *testing.T) {
	each(t, func(t fixture) {
		ok, bad, gone := t.save("https://a.test/ok"), t.save("https://a.test/bad"), t.save("https://a.test/gone")
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
		t.must(t.Purge(t.Context()))
		_, err = t.RefreshOf(t.Context(), r.ID)
		t.wantCode(err, models.CodeNotFound)
	})
}

func TestRefreshClaims(t *testing.T) {
	each(t, func(t fixture) {
		l := t.save("https://a.test/")
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
