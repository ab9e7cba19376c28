package links_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"linkwatch/models"
	"linkwatch/models/links"
)

// The counts of tags are correct in each scope after every operation.
func TestTagsAreCountedInEachScope(t *testing.T) {
	each(t, func(t fixture) {
		alice, bob := t.as("alice"), t.as("bob")
		a := t.addAs(alice, "https://a.test/a", "A", false, "go", "web")
		b := t.addAs(bob, "https://a.test/b", "B", true, "go", "web", "own")
		c := t.addAs(bob, "https://a.test/c", "C", false, "go")
		t.checkCounts("added")
		no, yes := false, true
		_, err := t.Edit(bob, b.ID, links.Edit{Private: &no})
		t.must(err)
		t.checkCounts("shared")
		_, err = t.Tag(alice, t.tag("own").ID)
		t.must(err)
		_, err = t.SetExpired(bob, true, b.ID)
		t.must(err)
		t.checkCounts("expired")
		_, err = t.Edit(bob, b.ID, links.Edit{Private: &yes})
		t.must(err)
		t.checkCounts("unshared")
		ch, err := t.Delete(t.admin(), a.ID, b.ID, c.ID)
		t.must(err)
		t.checkCounts("deleted")
		_, err = t.Undo(bob, ch.ID)
		t.wantCode(err, models.CodeNotFound)
		_, err = t.Undo(t.admin(), ch.ID)
		t.must(err)
		t.checkCounts("restored")
		if got := t.get(b.ID); got.PrivateTo != "bob" {
			t.Errorf("restored %+v", got)
		}
		_, err = t.SetExpired(t.admin(), false, b.ID)
		t.must(err)
		ch, err = t.TagAll(bob, []string{"new", "go"}, a.ID, b.ID)
		t.must(err)
		t.checkCounts("tagged")
		_, err = t.Undo(bob, ch.ID)
		t.must(err)
		t.checkCounts("untagged")
		_, err = t.SwapTag(bob, b.ID, t.tag("own").ID, "other")
		t.must(err)
		t.must(t.RemoveTag(bob, b.ID, t.tag("web").ID))
		t.checkCounts("swapped")
		_, _, err = t.RenameTag(t.admin(), t.tag("web").ID, "go")
		t.must(err)
		t.checkCounts("merged")
		_, _, err = t.RenameTag(alice, t.tag("go").ID, "golang")
		t.must(err)
		t.checkCounts("renamed for alice")
		_, err = t.Delete(bob, b.ID)
		t.must(err)
		t.checkCounts("deleted by bob")
	})
}

// A rename changes only the visible links of a tag.
func TestRenamingATagOfHiddenLinks(t *testing.T) {
	each(t, func(t fixture) {
		alice, bob := t.as("alice"), t.as("bob")
		a := t.addAs(alice, "https://a.test/a", "A", false, "go")
		b := t.addAs(bob, "https://a.test/b", "B", true, "go", "secret")
		tag, merged, err := t.RenameTag(alice, t.tag("go").ID, "golang")
		t.must(err)
		if merged || tag.Name != "golang" || tag.LinkCount != 1 || !slices.Equal(t.get(a.ID).Tags, []string{"golang"}) || !slices.Equal(t.get(b.ID).Tags, []string{"go", "secret"}) {
			t.Errorf("got %+v, %v, %q, %q", tag, merged, t.get(a.ID).Tags, t.get(b.ID).Tags)
		}
		found := func(ctx context.Context, query string) int {
			t.Helper()
			l, err := t.List(ctx, links.Filter{Query: query}, firstPage)
			t.must(err)
			return l.Total
		}
		if found(alice, "tag:golang") != 1 || found(alice, `tag:go`) != 1 || found(bob, "tag:go") != 1 {
			t.Error("the index is not current")
		}
		_, err = t.Tag(alice, t.tag("go").ID)
		t.wantCode(err, models.CodeNotFound)

		// A name that only hidden links have can be used.
		into, n, err := t.MergeTarget(alice, tag.ID, "Secret")
		t.must(err)
		if n != 0 || into != (links.Tag{}) {
			t.Errorf("alice sees %+v on %d links", into, n)
		}
		tag, merged, err = t.RenameTag(alice, tag.ID, "secret")
		t.must(err)
		if merged || tag.LinkCount != 1 || tag.LastUsedAt != tag.CreatedAt {
			t.Errorf("got %+v, %v", tag, merged)
		}
		if all := t.tag("secret"); all.LinkCount != 2 {
			t.Errorf("admins see %+v", all)
		}
		// bob sees all links of the tag, so it keeps its id.
		whole, merged, err := t.RenameTag(bob, tag.ID, "public")
		t.must(err)
		if merged || whole.ID != tag.ID || whole.LinkCount != 2 {
			t.Errorf("got %+v, %v", whole, merged)
		}
	})
}

// checkCounts compares the stored counts of tags with those of their links.
func (f fixture) checkCounts(what string) {
	f.Helper()
	var wrong []map[string]any
	f.must(f.db.Read(f.Context()).Raw(`SELECT * FROM (
		SELECT tag_seq, private_to, links, link_count, 'stored' AS kind FROM tag_scopes UNION ALL
		SELECT tag_seq, private_to, count(*), count(*) FILTER (WHERE expired_at IS NULL), 'counted' FROM link_tags JOIN links ON links.seq = link_seq GROUP BY tag_seq, private_to
		) AS both_of GROUP BY tag_seq, private_to, links, link_count, kind`).Scan(&wrong).Error)
	seen := map[string]int{}
	for _, row := range wrong {
		seen[fmt.Sprint(row["tag_seq"], " ", row["private_to"], " ", row["links"], " ", row["link_count"])]++
	}
	for row, n := range seen {
		if n != 2 {
			f.Errorf("%s: tag, scope, links and active %s: stored and counted differ", what, row)
		}
	}
	var bad int
	f.must(f.db.Read(f.Context()).Raw(`SELECT count(*) FROM tags WHERE link_count <>
		(SELECT count(*) FROM link_tags JOIN links ON links.seq = link_seq WHERE tag_seq = tags.seq AND expired_at IS NULL)`).Scan(&bad).Error)
	if bad > 0 {
		f.Errorf("%s: %d tags are miscounted", what, bad)
	}
}
