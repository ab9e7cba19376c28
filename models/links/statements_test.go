package links_test

import (
	"fmt"
	"testing"

	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
)

// The number of statements of a batch does not depend on its size.
func TestStatementsOfABatchAreConstant(t *testing.T) {
	each(t, func(t fixture) {
		few, many := t.sentFor(10), t.sentFor(200)
		for what, n := range few {
			if many[what] != n {
				t.Errorf("%s: %d statements for 10 links, %d for 200", what, n, many[what])
			}
		}
	})
}

// sentFor runs all batch operations with n new links and counts statements.
func (t fixture) sentFor(n int) map[string]int64 {
	t.Helper()
	ctx, sent := t.Context(), map[string]int64{}
	count := func(what string, do func() error) {
		t.Helper()
		queries := modelstest.Queries(t, t.db)
		if err := do(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		sent[what] = queries.Load()
	}
	store := func(tag string) func() error {
		return func() error {
			ns := make([]links.New, n)
			for i := range ns {
				ns[i] = links.New{
					URL: fmt.Sprintf("https://n%d.test/%d", n, i), Title: fmt.Sprintf("word%dof%d", i, n),
					Tags: []string{tag, fmt.Sprint(tag, i%100)},
				}
			}
			_, err := t.Import(ctx, ns)
			return err
		}
	}
	// Another link shares posting lists with these, and keeps them when these are deleted. Expired, it is never due.
	_, err := t.SetExpired(ctx, true, t.add(fmt.Sprintf("https://n%d.test/other", n)).ID)
	t.must(err)
	count("import", store("first"))
	count("import again", store("second"))

	var ids []string
	t.must(t.db.Read(ctx).Raw("SELECT id FROM links ORDER BY seq DESC LIMIT ?", n).Scan(&ids).Error)
	var last links.Change
	change := func(what string, do func() (links.Change, error)) {
		t.Helper()
		count(what, func() (err error) {
			if last, err = do(); err == nil && last.Links != n {
				err = fmt.Errorf("%d links changed, want %d", last.Links, n)
			}
			return err
		})
	}
	undo := func() (links.Change, error) { return t.Undo(ctx, last.ID) }
	change("tag", func() (links.Change, error) { return t.TagAll(ctx, []string{"one", "two"}, ids...) })
	change("untag", undo)
	change("expire", func() (links.Change, error) { return t.SetExpired(ctx, true, ids...) })
	change("unexpire", undo)
	change("delete", func() (links.Change, error) { return t.Delete(ctx, ids...) })
	change("undelete", undo)
	tag := t.tag("first").ID
	count("rename a tag", func() error { _, _, err := t.RenameTag(ctx, tag, fmt.Sprint("first of ", n)); return err })

	// Some links of each batch expire, others fail.
	turn := func(third int) {
		for i := third; i < n; i += 3 {
			t.web.set(fmt.Sprintf("https://n%d.test/%d", n, i), links.Page{Status: 404})
		}
	}
	turn(0)
	for i := 1; i < n; i += 3 {
		t.web.set(fmt.Sprintf("https://n%d.test/%d", n, i), links.Page{Status: 500})
	}
	t.clock.Advance(2 * week)
	var due []links.Claimed
	count("claim", func() error { due = t.claim(t.lease, n); return nil })
	done := t.check(due...)
	count("record", func() error { _, err := t.Record(ctx, done...); return err })
	count("release", func() error { return t.Release(ctx, releases(week, due)...) })

	_, err = t.StartRefresh(ctx, ids...)
	t.must(err)
	count("queue", func() error { _, err := t.StartRefresh(ctx, ids...); return err }) // each link twice
	var items []links.RefreshItem
	count("claim refreshes", func() error { items = t.claimRefreshes(t.lease, 2*n); return nil })
	turn(2)
	fetched := t.refetch(items...)
	count("refresh", func() error { return t.FinishRefreshes(ctx, fetched...) })
	count("release refreshes", func() error { return t.ReleaseRefreshes(ctx, releases(0, items)...) })

	t.add(fmt.Sprintf("https://n%d.test/", n)) // a word to keep
	_, err = t.Delete(ctx, ids...)
	t.must(err)
	count("reap words", func() error { t.reap(t.ReapWords, 10_000); return nil })
	if found, err := t.List(ctx, links.Filter{Query: "word"}, models.Page{Number: 1, Size: 1}); err != nil || found.Total != 0 {
		t.Errorf("%d links are left, %v", found.Total, err)
	}
	return sent
}
