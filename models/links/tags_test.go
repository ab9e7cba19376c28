package links_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/links"
)

func TestTagsOnALink(t *testing.T) {
	each(t, func(t fixture) {
		a, b := t.add("https://a.test/a", "Go"), t.add("https://a.test/b", "GO", "web")
		ts, err := t.AddTags(t.Context(), a.ID, []string{"web", "Zürich", "zürich"})
		t.must(err)
		var names []string
		for _, x := range ts {
			names = append(names, x.Name)
		}
		if !slices.Equal(names, []string{"Go", "web", "Zürich"}) {
			t.Errorf("tags %q", names)
		}
		if got := t.tag("go"); got.Name != "Go" || got.LinkCount != 2 {
			t.Errorf("got %+v", got)
		}

		web := t.tag("web")
		swapped, err := t.SwapTag(t.Context(), a.ID, web.ID, "html")
		t.must(err)
		if swapped.Name != "html" || !slices.Equal(t.get(a.ID).Tags, []string{"Go", "Zürich", "html"}) {
			t.Errorf("swapped %+v, tags %q", swapped, t.get(a.ID).Tags)
		}
		if got := t.tag("web").LinkCount; got != 1 {
			t.Errorf("web on %d links", got)
		}
		same, err := t.SwapTag(t.Context(), a.ID, swapped.ID, "HTML")
		t.must(err)
		if same.ID != swapped.ID || same.Name != "html" {
			t.Errorf("swapped for itself: %+v", same)
		}

		t.must(t.RemoveTag(t.Context(), b.ID, web.ID))
		if got := t.tagNames(links.TagsByName); !slices.Equal(got, []string{"Go", "html", "Zürich"}) {
			t.Errorf("unused tag was not deleted: %q", got)
		}
		t.wantCode(t.RemoveTag(t.Context(), b.ID, web.ID), models.CodeNotFound)
		t.wantCode(t.RemoveTag(t.Context(), b.ID, swapped.ID), models.CodeNotFound) // tag of another link
		_, err = t.TagOf(t.Context(), b.ID, swapped.ID)
		t.wantCode(err, models.CodeNotFound)
		_, err = t.SwapTag(t.Context(), b.ID, swapped.ID, "x")
		t.wantCode(err, models.CodeNotFound)
		_, err = t.AddTags(t.Context(), models.NewID(models.KindLink), []string{"x"})
		t.wantCode(err, models.CodeNotFound)
	})
}

func TestTooManyTags(t *testing.T) {
	each(t, func(t fixture) {
		l := t.add("https://a.test/")
		names := make([]string, 64)
		for i := range names {
			names[i] = fmt.Sprintf("t%02d", i)
		}
		_, err := t.AddTags(t.Context(), l.ID, names[:63])
		t.must(err)
		_, err = t.AddTags(t.Context(), l.ID, []string{"one", "two"})
		t.wantCode(err, models.CodeTooManyTags)
		if got := t.get(l.ID).Tags; len(got) != 63 {
			t.Errorf("%d tags after an error", len(got))
		}
		_, err = t.AddTags(t.Context(), l.ID, slices.Concat(names, []string{"T00"})) // 64 in total
		t.must(err)
		_, _, err = t.Add(t.Context(), links.New{URL: l.URL, Tags: []string{"more"}})
		t.wantCode(err, models.CodeTooManyTags)
		if got := t.tagNames(links.TagsByCount); slices.Contains(got, "more") || slices.Contains(got, "one") {
			t.Error("tag was stored after an error")
		}
	})
}

func TestTagLists(t *testing.T) {
	each(t, func(t fixture) {
		a := t.add("https://a.test/a", "beta", "alpha")
		t.clock.Advance(time.Minute)
		t.add("https://a.test/b", "beta", "Alpine")
		t.clock.Advance(time.Minute)
		t.add("https://a.test/c", "alpha_%")
		if got := t.tagNames(links.TagsByName); !slices.Equal(got, []string{"alpha", "alpha_%", "Alpine", "beta"}) {
			t.Errorf("by name: %q", got)
		}
		if got := t.tagNames(links.TagsByCount); got[0] != "beta" {
			t.Errorf("by count: %q", got)
		}
		if got := t.tagNames(links.TagsByLastUse); got[0] != "alpha_%" || got[3] != "alpha" {
			t.Errorf("by last use: %q", got)
		}
		for typed, want := range map[string][]string{
			"AL": {"alpha", "Alpine", "alpha_%"}, "_": {"alpha_%"}, "%": {"alpha_%"}, "pin": {"Alpine"}, "zz": {}, `\`: {},
		} {
			ts, err := t.CompleteTags(t.Context(), typed, 10)
			t.must(err)
			got := []string{}
			for _, x := range ts {
				got = append(got, x.Name)
			}
			if !slices.Equal(got, want) {
				t.Errorf("completing %q: %q, want %q", typed, got, want)
			}
		}
		_, err := t.SetExpired(t.Context(), true, a.ID)
		t.must(err)
		if got := t.tag("alpha"); got.LinkCount != 0 {
			t.Errorf("an expired link counts: %+v", got)
		}
		if got := t.tag("beta"); got.LinkCount != 1 {
			t.Errorf("got %+v", got)
		}
	})
}

// A name of a tag matches exactly, with accents. Without such a tag it matches tags that contain it.
func TestTagsThatDifferInAccents(t *testing.T) {
	each(t, func(t fixture) {
		with, without := t.add("https://a.test/with", "Café"), t.add("https://a.test/without", "cafe")
		for q, want := range map[string]string{"tag:café": with.URL, "tag:CAFÉ": with.URL, "tag:cafe": without.URL} {
			if got := t.urls(links.Filter{Query: q}); !slices.Equal(got, []string{want}) {
				t.Errorf("%s: %q", q, got)
			}
		}
		if got := t.urls(links.Filter{Query: "tag:caf"}); len(got) != 2 {
			t.Errorf("by a part: %q", got)
		}
	})
}

func TestLongTagFilters(t *testing.T) {
	each(t, func(t fixture) {
		t.add("https://a.test/", "x")
		for _, long := range []string{strings.Repeat("a", 60_000), strings.Repeat("\ufdfa", 3000)} {
			_, err := t.Tags(t.Context(), long, links.TagsByName, firstPage)
			t.wantCode(err, models.CodeInvalid)
			_, err = t.CompleteTags(t.Context(), long, 5)
			t.wantCode(err, models.CodeInvalid)
		}
		// U+FDFA folds to 18 characters.
		for _, long := range []string{strings.Repeat("a", models.MaxFilter), strings.Repeat("%", models.MaxFilter), strings.Repeat("\ufdfa", models.MaxFilter/3)} {
			ts, err := t.Tags(t.Context(), long, links.TagsByName, firstPage)
			t.must(err)
			done, err := t.CompleteTags(t.Context(), long, 5)
			t.must(err)
			if len(ts.Items)+len(done) != 0 {
				t.Errorf("found %v and %v", ts, done)
			}
		}
	})
}

// TestTagCountsStayTrue runs random operations on tags concurrently and compares the stored counts with the actual
// ones.
func TestTagCountsStayTrue(t *testing.T) {
	each(t, func(t fixture) {
		var ids []string
		for i := range 12 {
			ids = append(ids, t.add(fmt.Sprintf("https://a.test/%d", i), fmt.Sprint("t", i%4)).ID)
		}
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				rnd := rand.New(rand.NewPCG(7, uint64(w)))
				for range 60 {
					id, name := ids[rnd.IntN(len(ids))], fmt.Sprint("t", rnd.IntN(6))
					if err := t.step(rnd, id, name); err != nil && models.CodeOf(err) != models.CodeNotFound {
						t.Errorf("got %v", err)
					}
				}
			})
		}
		wg.Wait()

		var rows []struct {
			Name       string
			LinkCount  int
			Real, Uses int
		}
		t.must(t.db.Read(t.Context()).Raw(`SELECT name, link_count,
			(SELECT count(*) FROM link_tags JOIN links ON links.seq = link_seq WHERE tag_seq = tags.seq AND expired_at IS NULL) AS real,
			(SELECT count(*) FROM link_tags WHERE tag_seq = tags.seq) AS uses FROM tags`).Scan(&rows).Error)
		if len(rows) == 0 {
			t.Fatal("no tags left to compare")
		}
		for _, r := range rows {
			if r.LinkCount != r.Real || r.Uses == 0 {
				t.Errorf("tag %s: link_count %d, want %d, on %d links", r.Name, r.LinkCount, r.Real, r.Uses)
			}
			if found, err := t.List(t.Context(), links.Filter{Tag: r.Name}, firstPage); err != nil || found.Total != r.Real {
				t.Errorf("tag %s: the index finds %d, want %d (%v)", r.Name, found.Total, r.Real, err)
			}
		}
	})
}

// step runs a random operation on a link.
func (t fixture) step(rnd *rand.Rand, id, name string) error {
	ctx := t.Context()
	switch rnd.IntN(7) {
	case 0, 1:
		_, err := t.AddTags(ctx, id, []string{name, fmt.Sprint("t", rnd.IntN(6))})
		return err
	case 2:
		ts, err := t.TagsOf(ctx, id)
		if err != nil || len(ts) == 0 {
			return err
		}
		return t.RemoveTag(ctx, id, ts[rnd.IntN(len(ts))].ID)
	case 3:
		_, err := t.SetExpired(ctx, rnd.IntN(2) == 0, id)
		return err
	case 4:
		c, err := t.Delete(ctx, id)
		if err == nil && c.Links > 0 {
			_, err = t.Undo(ctx, c.ID)
		}
		return err
	case 5:
		c, err := t.TagAll(ctx, []string{name}, id)
		if err == nil && c.Links > 0 && rnd.IntN(2) == 0 {
			_, err = t.Undo(ctx, c.ID)
		}
		return err
	default:
		ts, err := t.TagsOf(ctx, id)
		if err != nil || len(ts) == 0 {
			return err
		}
		_, _, err = t.RenameTag(ctx, ts[0].ID, name)
		return err
	}
}

func TestTagAllAndUndo(t *testing.T) {
	each(t, func(t fixture) {
		a, b := t.add("https://a.test/a", "have"), t.add("https://a.test/b")
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
			t.Errorf("partly tagged: %q", got)
		}
	})
}
