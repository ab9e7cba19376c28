package links_test

import (
	"testing"

	"linkwatch/models/links"
)

func TestExpireReviveAndUndo(t *testing.T) {
	each(t, func(t fixture) {
		a, b := t.add("https://a.test/a", "x"), t.add("https://a.test/b", "x")
		c, err := t.SetExpired(t.Context(), true, a.ID, b.ID)
		t.must(err)
		if c.Links != 2 || t.tag("x").LinkCount != 0 || !t.get(a.ID).Expired() {
			t.Errorf("got %+v", c)
		}
		none, err := t.SetExpired(t.Context(), true, a.ID)
		t.must(err)
		if none.Links != 0 || none.ID != "" {
			t.Errorf("expiring twice: %+v", none)
		}
		_, err = t.Undo(t.Context(), c.ID)
		t.must(err)
		if got := t.get(a.ID); got.Expired() || got.NextCheckAt != a.NextCheckAt || t.tag("x").LinkCount != 2 {
			t.Errorf("got %+v", got)
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
