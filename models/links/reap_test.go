package links_test

import (
	"slices"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
)

// Nothing the store does leaves a tag that no link carries (TestTagCountsStayTrue
// looks for them too): only a link that was deleted past it does.
func TestReapTags(t *testing.T) {
	each(t, func(t fixture) {
		reap := func(limit int) (n int64) {
			t.Helper()
			t.must(t.db.Write(t.Context(), func(tx *gorm.DB) (err error) {
				n, err = t.ReapTags(tx, limit)
				return err
			}))
			return n
		}
		expired := t.add("https://a.test/expired", "resting")
		_, err := t.SetExpired(t.Context(), true, expired.ID)
		t.must(err)
		undone := t.add("https://a.test/undone", "back")
		c, err := t.Delete(t.Context(), undone.ID)
		t.must(err)
		_, err = t.Undo(t.Context(), c.ID)
		t.must(err)
		c, err = t.TagAll(t.Context(), []string{"taken back"}, undone.ID)
		t.must(err)
		_, err = t.Undo(t.Context(), c.ID)
		t.must(err)
		_, err = t.Import(t.Context(), []links.New{{URL: "https://a.test/undone", Tags: []string{"merged"}}})
		t.must(err)
		if n := reap(10); n != 0 {
			t.Errorf("%d tags of links were dropped", n)
		}
		t.add("https://a.test/lost", "one", "two", "three", "back")
		modelstest.Exec(t, t.db, "DELETE FROM links WHERE url = 'https://a.test/lost'")
		for i, want := range []int64{2, 1, 0} {
			if n := reap(2); n != want {
				t.Errorf("batch %d dropped %d, want %d", i, n, want)
			}
		}
		if got := t.tagNames(links.TagsByName); !slices.Equal(got, []string{"back", "merged", "resting"}) {
			t.Errorf("left: %q", got)
		}
	})
}

func TestPurge(t *testing.T) {
	each(t, func(t fixture) {
		change, err := t.Delete(t.Context(), t.add("https://example.com/1").ID)
		t.must(err)
		t.clock.Advance(365 * 24 * time.Hour)
		_, err = t.Purge(t.Context(), t.Context())
		t.must(err)
		_, err = t.ChangeOf(t.Context(), change.ID)
		t.wantCode(err, models.CodeNotFound)
	})
}
