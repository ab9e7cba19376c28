package links_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
)

// The store never leaves a tag without links (see TestTagCountsStayTrue). Only links that are deleted by other
// programs do.
func TestReapTags(t *testing.T) {
	each(t, func(t fixture) {
		expired := t.add("https://a.test/expired", "resting")
		_, err := t.SetExpired(t.Context(), true, expired.ID)
		t.must(err)
		undone := t.add("https://a.test/undone", "back")
		c, err := t.Delete(t.Context(), undone.ID)
		t.must(err)
		_, err = t.Undo(t.Context(), c.ID)
		t.must(err)
		c, err = t.TagAll(t.Context(), []string{"undone"}, undone.ID)
		t.must(err)
		_, err = t.Undo(t.Context(), c.ID)
		t.must(err)
		_, err = t.Import(t.Context(), []links.New{{URL: "https://a.test/undone", Tags: []string{"merged"}}})
		t.must(err)
		if n := t.reap(t.ReapTags, 10); n != 0 {
			t.Errorf("%d tags of links were deleted", n)
		}
		t.add("https://a.test/lost", "one", "two", "three", "back")
		modelstest.Exec(t, t.db, "DELETE FROM links WHERE url = 'https://a.test/lost'")
		for i, want := range []int64{2, 1, 0} {
			if n := t.reap(t.ReapTags, 2); n != want {
				t.Errorf("batch %d dropped %d, want %d", i, n, want)
			}
		}
		if got := t.tagNames(links.TagsByName); !slices.Equal(got, []string{"back", "merged", "resting"}) {
			t.Errorf("left: %q", got)
		}
	})
}

func TestReapChanges(t *testing.T) {
	each(t, func(t fixture) {
		remove := func(i int) links.Change {
			t.Helper()
			c, err := t.Delete(t.Context(), t.add(fmt.Sprintf("https://a.test/%d", i)).ID)
			t.must(err)
			return c
		}
		old := []links.Change{remove(1), remove(2), remove(3)}
		t.clock.Advance(23 * time.Hour)
		kept := remove(4)
		if n := t.reap(t.ReapChanges, 10); n != 0 {
			t.Errorf("%d changes that can be undone were deleted", n)
		}
		t.clock.Advance(time.Hour)
		for i, want := range []int64{2, 1, 0} {
			if n := t.reap(t.ReapChanges, 2); n != want {
				t.Errorf("batch %d deleted %d, want %d", i, n, want)
			}
		}
		for _, c := range old {
			_, err := t.ChangeOf(t.Context(), c.ID)
			t.wantCode(err, models.CodeNotFound)
		}
		_, err := t.Undo(t.Context(), kept.ID)
		t.must(err)
	})
}

func TestReapRefreshes(t *testing.T) {
	each(t, func(t fixture) {
		start := func() links.Refresh {
			t.Helper()
			r, err := t.StartRefresh(t.Context(), t.add("https://a.test/").ID)
			t.must(err)
			return r
		}
		finished := start()
		t.must(t.FinishRefreshes(t.Context(), t.refetch(t.claimRefreshes(t.lease, 5)...)...))
		waiting := start()
		t.clock.Advance(models.Day)
		young := start()
		for i, want := range []int64{1, 0} {
			if n := t.reap(t.ReapRefreshes, 10); n != want {
				t.Errorf("batch %d deleted %d, want %d", i, n, want)
			}
		}
		_, err := t.RefreshOf(t.Context(), finished.ID)
		t.wantCode(err, models.CodeNotFound)
		for _, r := range []links.Refresh{waiting, young} {
			_, err := t.RefreshOf(t.Context(), r.ID)
			t.must(err)
		}
	})
}

func (t fixture) words() (words []string) {
	t.Helper()
	t.must(t.db.Read(t.Context()).Raw("SELECT word FROM link_words ORDER BY word").Scan(&words).Error)
	return words
}

// A call looks up a limited number of words. The next call continues after them and starts again at the end.
func TestReapWordsGoesThroughAllWords(t *testing.T) {
	each(t, func(t fixture) {
		t.titled("https://x.test/", "aaa bbb ccc ggg") // and "test"
		_, err := t.Delete(t.Context(), t.titled("https://x.test/2", "ddd fff zzz").ID)
		t.must(err)
		for i, want := range []struct {
			deleted int64
			left    []string
		}{
			{0, []string{"aaa", "bbb", "ccc", "ddd", "fff", "ggg", "test", "zzz"}}, // after aaa, bbb
			{1, []string{"aaa", "bbb", "ccc", "fff", "ggg", "test", "zzz"}},        // ccc, ddd
			{1, []string{"aaa", "bbb", "ccc", "ggg", "test", "zzz"}},               // fff, ggg
			{1, []string{"aaa", "bbb", "ccc", "ggg", "test"}},                      // test, zzz
			{0, []string{"aaa", "bbb", "ccc", "ggg", "test"}},                      // end
			{0, []string{"aaa", "bbb", "ccc", "ggg", "test"}},                      // aaa, bbb
		} {
			if n := t.reap(t.ReapWords, 2); n != want.deleted || !slices.Equal(t.words(), want.left) {
				t.Errorf("call %d: %d deleted, left %q, want %+v", i, n, t.words(), want)
			}
		}
	})
}

// The next link with a deleted word stores it again, also if the deletion was rolled back.
func TestReapedWordsAreForgotten(t *testing.T) {
	each(t, func(t fixture) {
		save := func(i int) { t.titled(fmt.Sprintf("https://x.test/%d", i), "kubernetes") }
		lose := func() {
			t.Helper()
			found, err := t.List(t.Context(), links.Filter{}, firstPage)
			t.must(err)
			_, err = t.Delete(t.Context(), found.Items[0].ID)
			t.must(err)
		}
		save(1)
		lose()
		broken := errors.New("broken")
		err := t.db.Write(t.Context(), func(tx *gorm.DB) error {
			n, err := t.ReapWords(tx, 100)
			if n != 2 {
				t.Errorf("%d words deleted, want 2", n)
			}
			return errors.Join(err, broken)
		})
		if !errors.Is(err, broken) {
			t.Fatal(err)
		}
		save(2)
		if got := t.words(); !slices.Equal(got, []string{"kubernetes", "test"}) {
			t.Errorf("after a deletion that was rolled back: %q", got)
		}
		lose()
		if n := t.reap(t.ReapWords, 100); n != 2 || len(t.words()) != 0 {
			t.Errorf("%d deleted, left %q", n, t.words())
		}
		save(3)
		if got := t.words(); !slices.Equal(got, []string{"kubernetes", "test"}) {
			t.Errorf("saved again: %q", got)
		}
	})
}
