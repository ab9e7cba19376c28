package links_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/cleanup"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
)

// TestQueryPlans checks the query plans of frequent statements on SQLite: none scans or sorts a whole table.
func TestQueryPlans(t *testing.T) {
	f := newFixture(t, modelstest.New(t))
	var ns []links.New
	for i := range 3000 {
		ns = append(ns, links.New{URL: fmt.Sprintf("https://h%d.test/page", i), Tags: []string{fmt.Sprint("t", i%50)}})
	}
	_, err := f.Import(t.Context(), ns)
	f.must(err)
	l := f.add("https://one.test/", "t1", "mine")
	tag := f.tag("t1")
	ctx, page := t.Context(), models.Page{Number: 3, Size: 30}
	reap := func(part cleanup.Remove) func() error {
		return func() error {
			return f.db.Write(ctx, func(tx *gorm.DB) error { _, err := part(tx, 1000); return err })
		}
	}

	for _, c := range []struct {
		name string
		do   func() error
	}{
		{"list", func() error { _, err := f.List(ctx, links.Filter{}, page); return err }},
		{"named items", func() error { _, err := f.NamedItems(ctx, []string{l.ID, tag.ID}); return err }},
		{"expired", func() error { _, err := f.List(ctx, links.Filter{Shown: links.ShowExpired}, page); return err }},
		{"search", func() error { _, err := f.List(ctx, links.Filter{Query: "page tag:t1"}, page); return err }},
		{"by tag", func() error { _, err := f.List(ctx, links.Filter{Tag: "t1"}, page); return err }},
		{"late page", func() error {
			_, err := f.List(ctx, links.Filter{}, models.Page{Number: 200, Size: 30})
			return err
		}},
		{"late page by health", func() error {
			_, err := f.List(ctx, links.Filter{Health: links.Unchecked}, models.Page{Number: 200, Size: 30})
			return err
		}},
		{"expired by health", func() error {
			_, err := f.List(ctx, links.Filter{Shown: links.ShowExpired, Health: links.Dead}, page)
			return err
		}},
		{"by health", func() error { _, err := f.List(ctx, links.Filter{Health: links.Unchecked}, page); return err }},
		{"recently expired", func() error { _, err := f.List(ctx, links.Filter{Shown: links.ShowRecent}, page); return err }},
		{"recently dead", func() error {
			_, err := f.List(ctx, links.Filter{Shown: links.ShowRecent, Health: links.Dead}, page)
			return err
		}},
		{"popular", func() error { _, err := f.Popular(ctx, page); return err }},
		{"random", func() error { _, err := f.Random(ctx); return err }},
		{"health by URL", func() error {
			_, err := f.HealthOf(ctx, []string{"https://h1.test/page", "https://h2.test/page"})
			return err
		}},
		{"counts", func() error { _, err := f.Counts(ctx); return err }},
		{"attention", func() error { _, err := f.NeedAttention(ctx, 10); return err }},
		{"get", func() error { _, err := f.Get(ctx, l.ID); return err }},
		{"view", func() error { _, err := f.View(ctx, l.ID); return err }},
		{"save again", func() error { _, _, err := f.Add(ctx, links.New{URL: l.URL, Tags: []string{"t2"}}); return err }},
		{"tags of", func() error { _, err := f.TagsOf(ctx, l.ID); return err }},
		{"tag", func() error { _, err := f.Tag(ctx, tag.ID); return err }},
		{"tags", func() error { _, err := f.Tags(ctx, "", links.TagsByCount, page); return err }},
		{"new tags", func() error { _, err := f.Tags(ctx, "", links.TagsByLastUse, page); return err }},
		{"refresh", func() error { _, err := f.StartRefresh(ctx, l.ID); return err }},
		{"delete", func() error { _, err := f.Delete(ctx, l.ID); return err }},
		{"reap tags", reap(f.ReapTags)},
		{"reap changes", reap(f.ReapChanges)},
		{"reap refreshes", reap(f.ReapRefreshes)},
		{"reap words", reap(f.ReapWords)},
		{"finish renames", func() error { return f.FinishIndexing(ctx) }},
		{"claim", func() error { return claim(f) }},
		{"claim refreshes", func() error { return claimRefreshes(f) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, s := range modelstest.Sent(t, f.db, c.do) {
				checkPlan(t, f.db, s)
			}
		})
	}
}

// claim runs all operations on claimed links.
func claim(f fixture) error {
	f.clock.Advance(2 * week)
	ls, _, err := f.Claim(f.Context(), f.lease, 10)
	if err != nil || len(ls) != 10 {
		return fmt.Errorf("%d links, %w", len(ls), err)
	}
	_, err = f.Record(f.Context(), f.check(ls[:5]...)...)
	return errors.Join(err, f.Release(f.Context(), releases(0, ls[5:6])...), f.ReleaseOthers(f.Context(), f.lease, ls[6]), f.ReleaseOthers(f.Context(), f.lease))
}

// claimRefreshes runs all operations on queued links.
func claimRefreshes(f fixture) error {
	found, err := f.List(f.Context(), links.Filter{}, firstPage)
	f.must(err)
	var ids []string
	for _, l := range found.Items {
		ids = append(ids, l.ID)
	}
	_, err = f.StartRefresh(f.Context(), ids...)
	f.must(err)
	items, _, err := f.ClaimRefreshes(f.Context(), f.lease, 10)
	if err != nil || len(items) != 10 {
		return fmt.Errorf("%d links, %w", len(items), err)
	}
	return errors.Join(f.FinishRefreshes(f.Context(), f.refetch(items[:5]...)...), f.ReleaseRefreshes(f.Context(), releases(0, items[5:6])...),
		f.ReleaseOtherRefreshes(f.Context(), f.lease, items[6]), f.ReleaseOtherRefreshes(f.Context(), f.lease))
}

func checkPlan(t *testing.T, db *models.DB, s modelstest.Statement) {
	t.Helper()
	if strings.Contains(s.SQL, "FROM link_reindex") { // small table
		return
	}
	for _, step := range modelstest.Plan(t, db, s) {
		// Small sorts are fine: the states of row_counts, the rows of a batch, the tags of a page, links that need attention.
		small := strings.Contains(s.SQL, "GROUP BY state") || strings.Contains(s.SQL, "batch_rows") || strings.Contains(s.SQL, "link_tags") || strings.Contains(s.SQL, "health_changed_at DESC")
		if modelstest.ReadsAll(step) && step != "SCAN due" || modelstest.Sorts(step) && !small {
			t.Errorf("%s\n  %s", s.SQL, step)
		}
	}
}
