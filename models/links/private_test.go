package links_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"linkwatch/models"
	"linkwatch/models/links"
)

// as returns the context of an account that is not an admin.
func (f fixture) as(name string) context.Context {
	return models.WithActor(f.Context(), models.Actor{Name: name, Via: "session"})
}

func (f fixture) admin() context.Context {
	return models.WithActor(f.Context(), models.Actor{Name: "root", Via: "session", SeesAll: true})
}

// addAs adds a link with a title as an account.
func (f fixture) addAs(ctx context.Context, url, title string, private bool, tags ...string) links.Link {
	f.Helper()
	f.web.set(url, links.Page{Status: 200, URL: url, Title: title})
	l, created, err := f.Add(ctx, links.New{URL: url, Tags: tags, Private: private})
	f.must(err)
	if !created {
		f.Fatalf("%s exists", url)
	}
	return l
}

// results returns the results of all reads of the store, as text.
func (f fixture) results(ctx context.Context, l links.Link, tag links.Tag) map[string]string {
	f.Helper()
	out := map[string]string{}
	note := func(name string, v any, err error) {
		if err != nil {
			out[name] = "error " + string(models.CodeOf(err))
			if models.CodeOf(err) == "" {
				f.Fatalf("%s: %v", name, err)
			}
			return
		}
		js, err := json.Marshal(v)
		f.must(err)
		out[name] = string(js)
	}
	for _, filter := range []links.Filter{
		{}, {Shown: links.ShowAll}, {Shown: links.ShowExpired}, {Shown: links.ShowRecent}, {Shown: links.ShowRecent, Health: links.Dead},
		{Query: "zebra"}, {Query: "ze"}, {Query: "title:zebra"}, {Query: "url:secret"}, {Query: "tag:hidden"}, {Query: "tag:hid"}, {Query: "zebro"},
		{Query: "tag:hiddon"}, {Query: "zebra", Shown: links.ShowAll}, {Query: "secret", Shown: links.ShowExpired}, {Tag: "hidden"}, {Tag: "hidden", Shown: links.ShowAll},
		{Tag: "common"}, {Health: links.OK}, {Health: links.Dead}, {Health: links.Dead, Shown: links.ShowAll}, {Query: "https"},
	} {
		v, err := f.List(ctx, filter, firstPage)
		note(fmt.Sprintf("list %+v", filter), v, err)
	}
	for _, q := range []string{"zebra", "ze", "secret", "tag:hidden", "zebro"} {
		v, err := f.Find(ctx, q, 10)
		note("find "+q, v, err)
	}
	v1, err := f.Get(ctx, l.ID)
	note("get", v1, err)
	v2, ok, err := f.ByURL(ctx, l.CanonicalURL)
	note("by URL", []any{v2, ok}, err)
	v4, err := f.Popular(ctx, firstPage)
	note("popular", v4, err)
	newest, popular, err := f.RecentAndPopular(ctx, 10)
	note("glance", []any{newest, popular}, err)
	v5, err := f.Counts(ctx)
	note("counts", v5, err)
	v6, err := f.NeedAttention(ctx, 10)
	note("attention", v6, err)
	urls := []string{l.CanonicalURL}
	v7, err := f.ByURLs(ctx, urls)
	note("by URLs", v7, err)
	v8, err := f.HealthOf(ctx, urls)
	note("health", v8, err)
	v9, err := f.TagNames(ctx, urls)
	note("tag names", v9, err)
	for _, o := range []links.TagOrder{links.TagsByName, links.TagsByCount, links.TagsByLastUse} {
		for _, match := range []string{"", "hid", "comm"} {
			v, err := f.Tags(ctx, match, o, firstPage)
			note("tags by "+string(o)+" "+match, v, err)
		}
	}
	v10, err := f.CompleteTags(ctx, "hid", 10)
	note("complete", v10, err)
	v11, err := f.Tag(ctx, tag.ID)
	note("tag", v11, err)
	v12, err := f.TagsOf(ctx, l.ID)
	note("tags of", v12, err)
	v13, err := f.TagOf(ctx, l.ID, tag.ID)
	note("tag of", v13, err)
	v14, n, err := f.MergeTarget(ctx, f.tag("common").ID, "hidden")
	note("merge target", []any{v14, n}, err)
	v15, err := f.Random(ctx)
	note("random", v15.ID, err)
	return out
}

// For alice, all reads return the same results with and without private links of bob.
func TestPrivateLinksAreNotSeen(t *testing.T) {
	each(t, func(t fixture) {
		alice, bob := t.as("alice"), t.as("bob")
		shared := t.addAs(bob, "https://a.test/shared", "Giraffe", false, "common")
		t.clock.Advance(models.Day)
		var none links.Link
		none.ID, none.CanonicalURL = models.NewID(models.KindLink), "https://a.test/secret"
		without := t.results(alice, none, links.Tag{ID: models.NewID(models.KindTag)})

		// Active, dead, moved and just expired.
		l := t.addAs(bob, "https://a.test/secret", "Zebra", true, "hidden", "Common")
		for url, page := range map[string]links.Page{
			"https://a.test/secret/dead": {Status: 410}, "https://a.test/secret/moved": {Status: 200, Permanent: true, URL: "https://a.test/there"},
		} {
			other := t.addAs(bob, url, "Zebra too", true, "hidden")
			t.web.set(url, page)
			_, err := t.Refresh(bob, other.ID)
			t.must(err)
		}
		tag := t.tag("hidden")
		with := t.results(alice, l, tag)
		for name, got := range with {
			if got != without[name] {
				t.Errorf("%s: alice sees\n%s\nwithout the private links\n%s", name, got, without[name])
			}
		}
		for who, ctx := range map[string]context.Context{"bob": bob, "an admin": t.admin(), "the background": t.Context()} {
			got := t.results(ctx, l, tag)
			own := map[string]bool{"by URL": true, "by URLs": true, "health": true, "tag names": true} // used by other systems
			for name := range with {
				same := got[name] == with[name]
				may := name == "random" || name == "find zebro" || name == "list {Query: Tag: Health:dead Shown:}" || who != "bob" && own[name]
				if same && !may {
					t.Errorf("%s: %s sees the same as alice: %s", name, who, got[name])
				}
				if who == "an admin" && own[name] && !same {
					t.Errorf("%s: an admin sees a private link of another account: %s", name, got[name])
				}
			}
		}
		for range 20 {
			if got, err := t.Random(alice); err != nil || got.ID != shared.ID {
				t.Fatalf("alice got the random link %s, %v", got.URL, err)
			}
		}
	})
}

// No write of alice changes private links of bob.
func TestPrivateLinksAreNotChanged(t *testing.T) {
	each(t, func(t fixture) {
		alice, bob := t.as("alice"), t.as("bob")
		l := t.addAs(bob, "https://a.test/secret", "Zebra", true, "hidden")
		t.web.set(l.URL, links.Page{Status: 200, URL: "https://a.test/moved", Title: "Zebra", Permanent: true})
		l, err := t.Refresh(bob, l.ID)
		t.must(err)
		tag := t.tag("hidden")
		change, err := t.SetExpired(bob, true, l.ID)
		t.must(err)
		refresh, err := t.StartRefresh(bob, l.ID)
		t.must(err)
		dump := func() string {
			var rows []map[string]any
			var all []any
			for _, table := range []string{"links", "tags", "link_tags", "tag_scopes", "link_changes", "link_refresh_items"} {
				rows = nil
				t.must(t.db.Read(t.Context()).Raw("SELECT * FROM " + table + " ORDER BY 1, 2").Scan(&rows).Error)
				all = append(all, rows)
			}
			return fmt.Sprint(all...)
		}
		before := dump()
		text, yes := "x", true
		for name, c := range map[string]struct {
			do   func() (any, error)
			code models.Code // "" = no error and no change
		}{
			"view":    {func() (any, error) { return t.View(alice, l.ID) }, models.CodeNotFound},
			"edit":    {func() (any, error) { return t.Edit(alice, l.ID, links.Edit{Title: &text}) }, models.CodeNotFound},
			"share":   {func() (any, error) { return t.Edit(alice, l.ID, links.Edit{Private: &yes}) }, models.CodeNotFound},
			"move":    {func() (any, error) { return t.ApplyMove(alice, l.ID) }, models.CodeNotFound},
			"refresh": {func() (any, error) { return t.Refresh(alice, l.ID) }, models.CodeNotFound},
			"recheck": {func() (any, error) { return t.Recheck(alice, l.ID) }, models.CodeNotFound},
			"tag":     {func() (any, error) { return t.AddTags(alice, l.ID, []string{"x"}) }, models.CodeNotFound},
			"untag":   {func() (any, error) { return nil, t.RemoveTag(alice, l.ID, tag.ID) }, models.CodeNotFound},
			"swap":    {func() (any, error) { return t.SwapTag(alice, l.ID, tag.ID, "x") }, models.CodeNotFound},
			"rename":  {func() (any, error) { v, _, err := t.RenameTag(alice, tag.ID, "x"); return v, err }, models.CodeNotFound},
			"merge":   {func() (any, error) { _, n, err := t.MergeTarget(alice, tag.ID, "x"); return n, err }, models.CodeNotFound},
			"undo":    {func() (any, error) { return t.Undo(alice, change.ID) }, models.CodeNotFound},
			"change":  {func() (any, error) { return t.ChangeOf(alice, change.ID) }, models.CodeNotFound},
			"batch":   {func() (any, error) { return t.RefreshOf(alice, refresh.ID) }, models.CodeNotFound},
			"delete":  {func() (any, error) { return t.Delete(alice, l.ID) }, ""},
			"expire":  {func() (any, error) { return t.SetExpired(alice, false, l.ID) }, ""},
			"tag all": {func() (any, error) { return t.TagAll(alice, []string{"x"}, l.ID) }, ""},
			"bulk":    {func() (any, error) { return t.Bulk(alice, links.ActionDelete, nil, l.ID) }, ""},
			"finish":  {func() (any, error) { return links.Change{}, t.FinishIndexing(alice) }, ""},
		} {
			v, err := c.do()
			if models.CodeOf(err) != c.code || c.code == "" && (err != nil || v.(links.Change).Links != 0) {
				t.Errorf("%s: %+v, %v", name, v, err)
			}
		}
		if after := dump(); after != before {
			t.Errorf("changed:\n%s\n%s", before, after)
		}
		r, err := t.StartRefresh(alice, l.ID)
		t.must(err)
		if r.Total != 0 {
			t.Errorf("alice refreshes %d links", r.Total)
		}

		// bob, an admin and a request without an account can change them.
		if v, err := t.RefreshOf(bob, refresh.ID); err != nil || v.Total != 1 {
			t.Errorf("bob's refresh: %+v, %v", v, err)
		}
		if v, err := t.Undo(t.admin(), change.ID); err != nil || v.Links != 1 {
			t.Errorf("an admin's undo: %+v, %v", v, err)
		}
		if v, err := t.View(bob, l.ID); err != nil || v.ViewCount != 1 {
			t.Errorf("bob's view: %+v, %v", v, err)
		}
		if _, err := t.ApplyMove(bob, l.ID); err != nil {
			t.Error("bob's move:", err)
		}
	})
}

func TestURLsAreUniqueInTheirScope(t *testing.T) {
	each(t, func(t fixture) {
		alice, bob := t.as("alice"), t.as("bob")
		const url = "https://a.test/x"
		bobs := t.addAs(bob, url, "X", true, "one")
		again, created, err := t.Add(bob, links.New{URL: url, Tags: []string{"two"}})
		t.must(err)
		if created || again.ID != bobs.ID || !again.Private() || !slices.Equal(again.Tags, []string{"one", "two"}) {
			t.Errorf("bob's link again: %+v, %v", again, created)
		}
		alices := t.addAs(alice, url, "X", true, "one")
		shared := t.addAs(t.as("carol"), url, "X", false, "three")
		if shared.Owner != "carol" || shared.Private() || alices.PrivateTo != "alice" {
			t.Errorf("got %+v, %+v", shared, alices)
		}

		// The shared link has priority.
		for _, ctx := range []context.Context{alice, bob, t.admin(), t.Context()} {
			l, _, err := t.ByURL(ctx, url)
			t.must(err)
			ids, err := t.ByURLs(ctx, []string{url})
			t.must(err)
			health, err := t.HealthOf(ctx, []string{url})
			t.must(err)
			names, err := t.TagNames(ctx, []string{url})
			t.must(err)
			if l.ID != shared.ID || ids[url] != shared.ID || health[url].ID != shared.ID || !slices.Equal(names[url], []string{"three"}) {
				t.Errorf("%s, %s, %s, %q: want the shared link", l.ID, ids[url], health[url].ID, names[url])
			}
		}
		for i, n := range []links.New{{URL: url, Tags: []string{"four"}}, {URL: url, Private: true, Tags: []string{"mine"}}} {
			again, created, err = t.Add(alice, n)
			t.must(err)
			if created || again.ID != shared.ID || !slices.Equal(again.Tags, []string{"three", "four"}) {
				t.Errorf("%d: %+v, %v", i, again, created)
			}
			stored, err := t.Import(alice, []links.New{n, n})
			t.must(err)
			if got := t.get(shared.ID).Tags; stored != 0 || !slices.Equal(got, []string{"three", "four"}) {
				t.Errorf("%d: imported %d, tags %q", i, stored, got)
			}
		}
		if n, err := t.AddAll(alice, []links.New{{URL: url}, {URL: "https://a.test/y", Private: true}}); err != nil || n != 1 {
			t.Errorf("stored %d, %v", n, err)
		}
		if n, err := t.AddAll(bob, []links.New{{URL: "https://a.test/y"}}); err != nil || n != 1 {
			t.Errorf("private link of alice: stored %d, %v", n, err)
		}

		// Make links shared and private.
		no, yes := false, true
		_, err = t.Edit(alice, alices.ID, links.Edit{Private: &no})
		t.wantCode(err, models.CodeConflict)
		if !strings.Contains(err.Error(), "shared link with this URL") {
			t.Error(err)
		}
		_, err = t.Edit(alice, shared.ID, links.Edit{Private: &yes})
		t.wantCode(err, models.CodeForbidden)
		l, err := t.Edit(t.admin(), shared.ID, links.Edit{Private: &yes})
		t.must(err)
		if l.PrivateTo != "carol" || l.Owner != "carol" {
			t.Errorf("made private by an admin: %+v", l)
		}
		_, err = t.Get(alice, shared.ID)
		t.wantCode(err, models.CodeNotFound)
		if l, err = t.Edit(alice, alices.ID, links.Edit{Private: &no}); err != nil || l.Private() {
			t.Errorf("shared: %+v, %v", l, err)
		}
		_, err = t.Edit(t.admin(), shared.ID, links.Edit{Private: &no})
		t.wantCode(err, models.CodeConflict)
		if got := t.urls(links.Filter{Query: "x"}); len(got) != 3 {
			t.Errorf("background jobs see %q", got)
		}

		// Only admins may set another owner.
		_, _, err = t.Add(alice, links.New{URL: "https://a.test/o", Owner: "bob"})
		t.wantCode(err, models.CodeForbidden)
		for _, private := range []bool{true, true} {
			l, _, err = t.Add(t.admin(), links.New{URL: "https://a.test/o", Owner: "bob", Private: private})
			t.must(err)
			if l.Owner != "bob" || l.PrivateTo != "bob" {
				t.Errorf("got %+v", l)
			}
		}
		if l, _, err = t.Add(alice, links.New{URL: "https://a.test/p", Owner: "alice"}); err != nil || l.Owner != "alice" {
			t.Errorf("got %+v, %v", l, err)
		}
		open := models.WithActor(t.Context(), models.Actor{Name: models.SystemOwner, SeesAll: true})
		if l, _, err = t.Add(open, links.New{URL: "https://a.test/q", Owner: "anybody"}); err != nil || l.Owner != "anybody" {
			t.Errorf("got %+v, %v", l, err)
		}
	})
}

// Usernames are case-sensitive, and marks are not.
func TestOwnersDifferByCase(t *testing.T) {
	each(t, func(t fixture) {
		t.addAs(t.as("Bob"), "https://a.test/1", "Walrus", true)
		if l, err := t.List(t.as("bob"), links.Filter{Query: "walrus"}, firstPage); err != nil || l.Total != 0 {
			t.Errorf("%d links, %v", l.Total, err)
		}
	})
}
