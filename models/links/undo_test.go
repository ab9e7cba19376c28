package links_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"linkwatch/models"
	"linkwatch/models/links"
)

func TestDeleteAndUndo(t *testing.T) {
	each(t, func(t fixture) {
		a := t.titled("https://a.test/a", "First", "x", "only")
		notes := "keep\nme"
		_, err := t.Edit(t.Context(), a.ID, links.Edit{Notes: &notes})
		t.must(err)
		_, err = t.View(t.Context(), a.ID)
		t.must(err)
		b := t.add("https://a.test/b", "x")
		t.add("https://a.test/c")
		before := t.get(a.ID)

		c, err := t.Delete(t.Context(), a.ID, b.ID, models.NewID(models.KindLink), "nonsense")
		t.must(err)
		if c.Links != 2 || c.Action != links.ActionDelete {
			t.Errorf("got %+v", c)
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
			t.Errorf("got %+v", undone)
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

func TestUndoSkipsURLsThatWereSavedAgain(t *testing.T) {
	each(t, func(t fixture) {
		a, b := t.add("https://a.test/a"), t.add("https://a.test/b")
		c, err := t.Delete(t.Context(), a.ID, b.ID)
		t.must(err)
		again := t.add("https://a.test/a", "new")
		undone, err := t.Undo(t.Context(), c.ID)
		t.must(err)
		if undone.Links != 1 {
			t.Errorf("got %+v", undone)
		}
		if got := t.get(again.ID); !slices.Equal(got.Tags, []string{"new"}) {
			t.Errorf("got %+v", got)
		}
		_, err = t.Get(t.Context(), a.ID)
		t.wantCode(err, models.CodeNotFound)
	})
}

func TestBulkLimit(t *testing.T) {
	each(t, func(t fixture) {
		_, err := t.Delete(t.Context(), strings.Split(strings.Repeat("x ", links.MaxBulk+1), " ")...)
		t.wantCode(err, models.CodeInvalid)
		c, err := t.Delete(t.Context())
		t.must(err)
		if c.Links != 0 || c.ID != "" {
			t.Errorf("got %+v", c)
		}
	})
}
