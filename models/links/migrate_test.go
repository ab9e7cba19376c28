package links_test

import (
	"fmt"
	"testing"

	"gorm.io/gorm"

	"linkwatch/models/links"
	"linkwatch/models/modelstest"
)

// The migration that makes URLs unique per scope keeps links and their references, up and down. It does not reuse
// keys.
func TestMigrationOfPrivateLinks(t *testing.T) {
	const privateLinks = 121
	each(t, func(t fixture) {
		bob := t.as("bob")
		a := t.addAs(bob, "https://a.test/a", "Shared", false, "go", "web")
		b := t.addAs(bob, "https://a.test/b", "Private", true, "go", "own")
		t.addAs(bob, "https://a.test/c", "Double", true, "double", "go")
		c := t.addAs(t.as("alice"), "https://a.test/c", "Kept", false, "web")
		last := t.add("https://a.test/last")
		_, err := t.StartRefresh(bob, a.ID, b.ID)
		t.must(err)
		change, err := t.Delete(bob, last.ID)
		t.must(err)
		modelstest.Exec(t, t.db, "UPDATE links SET view_count = 7, claimed_by = ? WHERE id = ?", t.lease, a.ID)
		modelstest.Exec(t, t.db, "INSERT INTO link_reindex (link_seq) VALUES (?)", a.Seq)

		modelstest.MigrateBelow(t, t.db, privateLinks)
		read := func(sql string) string {
			t.Helper()
			var rows []map[string]any
			t.must(t.db.Read(t.Context()).Raw(sql).Scan(&rows).Error)
			return fmt.Sprint(rows)
		}
		want := func(what, got, want string) {
			t.Helper()
			if got != want {
				t.Errorf("%s: %s, want %s", what, got, want)
			}
		}
		const rows = "SELECT title, view_count, owner FROM links ORDER BY seq"
		const tagged = "SELECT title, name FROM link_tags JOIN links ON links.seq = link_seq JOIN tags ON tags.seq = tag_seq ORDER BY links.seq, position"
		kept := "[map[owner:bob title:Shared view_count:7] map[owner:bob title:Private view_count:0] map[owner:alice title:Kept view_count:0]]"
		tags := "[map[name:go title:Shared] map[name:web title:Shared] map[name:go title:Private] map[name:own title:Private] map[name:web title:Kept]]"
		counts := "[map[link_count:2 name:go] map[link_count:1 name:own] map[link_count:2 name:web]]"
		want("links after going down", read(rows), kept)
		want("tags after going down", read(tagged), tags)
		want("counts after going down", read("SELECT name, link_count FROM tags ORDER BY name"), counts)
		want("queue after going down", read("SELECT count(*) AS n FROM link_refresh_items"), "[map[n:2]]")
		if err := t.db.Write(t.Context(), execs("UPDATE links SET canonical_url = 'https://a.test/c' WHERE id = '"+a.ID+"'")); err == nil {
			t.Error("URLs are not unique after going down")
		}

		t.must(t.db.Migrate(t.Context()))
		want("links after going up", read(rows), kept)
		want("tags after going up", read(tagged), tags)
		want("counts after going up", read("SELECT name, links, tag_scopes.link_count, private_to FROM tag_scopes JOIN tags ON tags.seq = tag_seq ORDER BY name"),
			"[map[link_count:2 links:2 name:go private_to:] map[link_count:1 links:1 name:own private_to:] map[link_count:2 links:2 name:web private_to:]]")
		want("claims after going up", read("SELECT count(*) AS n FROM links WHERE claimed_by IS NOT NULL"), "[map[n:1]]")
		t.must(t.FinishIndexing(t.Context())) // index entries that have the mark "private"
		for query, n := range map[string]int{"private": 1, "tag:go": 2, "double": 0} {
			if found, err := t.List(t.as("alice"), links.Filter{Query: query}, firstPage); err != nil || found.Total != n || len(found.Items) != n {
				t.Errorf("%s: %d links, %v", query, found.Total, err)
			}
		}
		if next := t.add("https://a.test/next"); next.Seq <= last.Seq {
			t.Errorf("got key %d after %d: keys are reused", next.Seq, last.Seq)
		}
		t.addAs(bob, c.URL+"x", "Unique", false)
		_, err = t.Delete(bob, b.ID)
		t.must(err)
		want("tags of links that do not exist", read("SELECT count(*) AS n FROM link_tags WHERE link_seq NOT IN (SELECT seq FROM links)"), "[map[n:0]]")
		if _, err := t.Undo(t.Context(), change.ID); err != nil {
			t.Error("undo a change from before the migration:", err)
		}
	})
}

func execs(sql string) func(*gorm.DB) error {
	return func(tx *gorm.DB) error { return tx.Exec(sql).Error }
}

// Until schema 160, canonical URLs kept the case of escapes. The migration changes one link of each URL and scope.
func TestMigrationOfEscapes(t *testing.T) {
	const upperEscapes = 160
	each(t, func(t fixture) {
		bob := t.as("bob")
		old := t.add("https://a.test/%c3%a4?q=%e3")
		first, second := t.add("https://a.test/first"), t.add("https://a.test/second")
		known, lower := t.add("https://a.test/%C3%A9"), t.add("https://a.test/lower")
		private := t.addAs(bob, "https://a.test/private", "Private", true)
		odd := t.add("https://a.test/odd")

		modelstest.MigrateBelow(t, t.db, upperEscapes)
		for id, form := range map[string]string{
			old.ID: "https://a.test/%c3%a4?q=%e3", first.ID: "https://a.test/%c3%b6", second.ID: "https://a.test/%C3%b6",
			lower.ID: "https://a.test/%c3%a9", private.ID: "https://a.test/%c3%A9", odd.ID: `https://a.test/%25c3/%zz/%?"\%aA`,
		} {
			modelstest.Exec(t, t.db, "UPDATE links SET canonical_url = ? WHERE id = ?", form, id)
		}
		t.must(t.db.Migrate(t.Context()))
		for id, want := range map[string]string{
			old.ID: "https://a.test/%C3%A4?q=%E3", first.ID: "https://a.test/%C3%B6", second.ID: "https://a.test/%C3%b6",
			known.ID: "https://a.test/%C3%A9", lower.ID: "https://a.test/%c3%a9", private.ID: "https://a.test/%C3%A9",
			odd.ID: `https://a.test/%25c3/%zz/%?"\%AA`,
		} {
			l, err := t.Get(t.Context(), id)
			t.must(err)
			if l.CanonicalURL != want {
				t.Errorf("got %s, want %s", l.CanonicalURL, want)
			}
		}
		if l, created, err := t.Add(t.Context(), links.New{URL: "https://a.test/%c3%A4?q=%E3"}); err != nil || created || l.ID != old.ID {
			t.Errorf("got %+v, %v, %v", l, created, err)
		}
		if l, created, err := t.Add(t.Context(), links.New{URL: "https://a.test/%c3%a9"}); err != nil || created || l.ID != known.ID {
			t.Errorf("got %+v, %v, %v", l, created, err)
		}
	})
}
