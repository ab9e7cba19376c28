package sites_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/sites"
)

// as is a context of an account that is no admin.
func (w *world) as(name string) context.Context {
	return models.WithActor(w.Context(), models.Actor{Name: name, Via: "session"})
}

// admin is a context of an admin.
func (w *world) admin() context.Context {
	return models.WithActor(w.Context(), models.Actor{Name: "root", Via: "session", SeesAll: true})
}

// private is what an account has of a private website. The zero value names nothing.
type private struct {
	site    sites.Website
	sitemap sites.Sitemap
	page    sites.Page
	boost   sites.Boost
}

func (p private) pageID() string {
	if p.page.Seq == 0 {
		return ""
	}
	return p.page.ID()
}

func (p private) sitemapID() string {
	if p.sitemap.Seq == 0 {
		return ""
	}
	return p.sitemap.ID()
}

const secretURL = "https://secret.example/"

// secretOf makes a private website of bob with all that can belong to one, in every trouble.
func (w *world) secretOf(bob context.Context) (p private) {
	w.Helper()
	var err error
	p.site, err = w.Add(bob, sites.NewWebsite{SiteURL: secretURL, Name: "Secret", IndexNowKey: "0123456789", Private: true})
	w.ok(err)
	p.site, err = w.SetCredentials(bob, p.site.ID, []byte("{}"), sites.Account{ClientEmail: "robot@p.example", ProjectID: "p"})
	w.ok(err)
	p.sitemap, _, err = w.AddSitemap(bob, p.site.ID, secretURL+"sitemap.xml")
	w.ok(err)
	p.sitemap = w.read(p.site, p.sitemap, w.entry(secretURL+"a", 1), w.entry(secretURL+"b", -1))
	w.ok(w.RecordRead(w.Context(), p.sitemap, sites.Read{Error: "status 500"}))
	p.page = w.page(p.site, "/a")
	_, err = w.Begin(w.Context(), p.site, sites.Submission{Method: sites.ByIndexNow, Action: sites.Updated, Pages: 1})
	w.ok(err)
	w.ok(w.Note(w.Context(), p.site, sites.Indexing, sites.Answer{Status: sites.Refused, Sitewide: true, Error: "no owner"}))
	p.boost, err = w.SetPriorities(bob, p.site.ID, sites.Filter{}, new(100))
	w.ok(err)
	modelstest.Exec(w.T, w.db, "INSERT INTO page_counts (website_seq, status, cause, pages) VALUES (?, 'failed', 'x', 1)", p.site.Seq)
	p.site, err = w.Get(bob, p.site.ID)
	w.ok(err)
	return p
}

// reads are all reads, with what they return of something private. own looks up URLs in
// the scope of the caller, for admins too.
var reads = []struct {
	name string
	own  bool
	do   func(w *world, ctx context.Context, p private) (any, error)
}{
	{"website", false, func(w *world, ctx context.Context, p private) (any, error) { return w.Get(ctx, p.site.ID) }},
	{"websites", false, func(w *world, ctx context.Context, _ private) (any, error) { return w.List(ctx, models.Cursor{}, 50) }},
	{"refused", false, func(w *world, ctx context.Context, _ private) (any, error) {
		return w.InTrouble(ctx, sites.GoogleRefuses, models.Cursor{}, 50)
	}},
	{"unread", false, func(w *world, ctx context.Context, _ private) (any, error) {
		return w.InTrouble(ctx, sites.SitemapsUnread, models.Cursor{}, 50)
	}},
	{"failed", false, func(w *world, ctx context.Context, _ private) (any, error) {
		return w.InTrouble(ctx, sites.PagesFailed, models.Cursor{}, 50)
	}},
	{"total", false, func(w *world, ctx context.Context, _ private) (any, error) {
		n, in, err := w.Total(ctx)
		return fmt.Sprint(n, in[sites.GoogleRefuses], in[sites.SitemapsUnread], in[sites.PagesFailed]), err
	}},
	{"find", false, func(w *world, ctx context.Context, _ private) (any, error) { return w.Find(ctx, "secret", 10) }},
	{"pages", false, func(w *world, ctx context.Context, p private) (any, error) {
		return w.Pages(ctx, p.site.ID, sites.Filter{}, models.Cursor{}, 50)
	}},
	{"page", false, func(w *world, ctx context.Context, p private) (any, error) { return w.Page(ctx, p.pageID()) }},
	{"pages by id", false, func(w *world, ctx context.Context, p private) (any, error) {
		return w.PagesByID(ctx, p.site.ID, p.pageID())
	}},
	{"pages by URL", true, func(w *world, ctx context.Context, _ private) (any, error) { return w.ByURLs(ctx, secretURL+"a") }},
	{"sitemaps", false, func(w *world, ctx context.Context, p private) (any, error) {
		return w.SitemapsOf(ctx, p.site.ID, models.Cursor{}, 50)
	}},
	{"sitemap", false, func(w *world, ctx context.Context, p private) (any, error) {
		return w.Sitemap(ctx, p.site.ID, p.sitemapID())
	}},
	{"tree", false, func(w *world, ctx context.Context, p private) (any, error) { return w.SitemapTree(ctx, p.site) }},
	{"submissions", false, func(w *world, ctx context.Context, p private) (any, error) {
		return w.Submissions(ctx, p.site.ID, "", models.Cursor{}, 50)
	}},
}

// told is what a read says, in words.
func (w *world) told(ctx context.Context, p private, do func(*world, context.Context, private) (any, error)) string {
	w.Helper()
	got, err := do(w, ctx, p)
	if m, ok := errors.AsType[*models.Error](err); ok {
		return fmt.Sprint(m.Code, m.Detail)
	}
	w.ok(err)
	return fmt.Sprintf("%+v", got)
}

// Who does not see a website reads what it would read without it, by any read.
func TestReadsPassOverPrivateWebsites(t *testing.T) {
	each(t, func(w *world) {
		alice, bob := w.as("alice"), w.as("bob")
		_, err := w.Add(alice, sites.NewWebsite{SiteURL: "https://other.example/"})
		w.ok(err)
		before := map[string]string{}
		for _, r := range reads {
			before[r.name] = w.told(alice, private{}, r.do)
		}
		p := w.secretOf(bob)
		for _, r := range reads {
			if got := w.told(alice, p, r.do); got != before[r.name] {
				w.Errorf("%s: alice reads %s\nand before %s", r.name, got, before[r.name])
			}
			if got := w.told(bob, p, r.do); got == before[r.name] {
				w.Errorf("%s: bob reads only %s", r.name, got)
			}
			if got := w.told(w.admin(), p, r.do); (got == before[r.name]) != r.own {
				w.Errorf("%s: an admin reads %s", r.name, got)
			}
		}
	})
}

// Who does not see a website changes nothing of it, and is answered as if it were not
// there.
func TestWritesPassOverPrivateWebsites(t *testing.T) {
	each(t, func(w *world) {
		alice, bob := w.as("alice"), w.as("bob")
		p := w.secretOf(bob)
		gone, err := w.Add(bob, sites.NewWebsite{SiteURL: "https://gone.example/", Private: true})
		w.ok(err)
		w.ok(w.Delete(bob, gone.ID))
		id, name := p.site.ID, "Mine"
		writes := []struct {
			name string
			do   func(ctx context.Context) error
		}{
			{"edit", func(ctx context.Context) error { _, err := w.Edit(ctx, id, sites.Edit{Name: &name}); return err }},
			{"sitemaps", func(ctx context.Context) error { _, err := w.Want(ctx, id, sites.Reading); return err }},
			{"add sitemap", func(ctx context.Context) error {
				_, _, err := w.AddSitemap(ctx, id, secretURL+"more.xml")
				return err
			}},
			{"priority", func(ctx context.Context) error { _, err := w.SetPriority(ctx, p.pageID(), new(50)); return err }},
			{"priorities of", func(ctx context.Context) error {
				_, err := w.SetPrioritiesOf(ctx, id, new(60), p.pageID())
				return err
			}},
			{"priorities", func(ctx context.Context) error {
				_, err := w.SetPriorities(ctx, id, sites.Filter{}, new(70))
				return err
			}},
			{"undo", func(ctx context.Context) error { _, err := w.UndoPriorities(ctx, id, p.boost.At); return err }},
			{"submit", func(ctx context.Context) error { _, err := w.WantSubmission(ctx, p.pageID(), false); return err }},
			{"remove", func(ctx context.Context) error { _, err := w.WantSubmission(ctx, p.pageID(), true); return err }},
			{"verify", func(ctx context.Context) error { _, err := w.WantVerification(ctx, p.pageID()); return err }},
			{"submit some", func(ctx context.Context) error { _, err := w.WantSubmissions(ctx, id, p.pageID()); return err }},
			{"verify some", func(ctx context.Context) error { _, err := w.WantVerifications(ctx, id, p.pageID()); return err }},
			{"credentials", func(ctx context.Context) error {
				_, err := w.SetCredentials(ctx, id, []byte("{}"), sites.Account{})
				return err
			}},
			{"no credentials", func(ctx context.Context) error { _, err := w.RemoveCredentials(ctx, id); return err }},
			{"delete sitemap", func(ctx context.Context) error { return w.DeleteSitemap(ctx, id, p.sitemapID()) }},
			{"delete", func(ctx context.Context) error { return w.Delete(ctx, id) }},
			{"restore", func(ctx context.Context) error { _, err := w.Restore(ctx, gone.ID); return err }},
		}
		before := w.rows()
		for _, c := range writes {
			if err := c.do(alice); models.CodeOf(err) != models.CodeNotFound {
				w.Errorf("%s: %v", c.name, err)
			}
			if after := w.rows(); after != before {
				w.Fatalf("%s changed\n%s\nto\n%s", c.name, before, after)
			}
		}
		for _, c := range writes { // the owner may
			if err := c.do(bob); err != nil {
				w.Errorf("%s: %v", c.name, err)
			}
		}
	})
}

// rows are all rows that writes could change.
func (w *world) rows() string {
	w.Helper()
	var b strings.Builder
	for _, table := range []string{"websites", "sitemaps", "pages", "submissions", "audit_entries"} {
		var all []map[string]any
		w.ok(w.db.Read(w.Context()).Raw("SELECT * FROM " + table + " ORDER BY seq").Scan(&all).Error)
		fmt.Fprintln(&b, table, all)
	}
	return b.String()
}

// A site_url is unique among shared websites, and among those of each account.
func TestWebsitesAreUniqueByScope(t *testing.T) {
	each(t, func(w *world) {
		alice, bob := w.as("alice"), w.as("bob")
		add := func(ctx context.Context, private bool) (sites.Website, error) {
			return w.Add(ctx, sites.NewWebsite{SiteURL: secretURL, Private: private})
		}
		his, err := add(bob, true)
		w.ok(err)
		for _, private := range []bool{false, true} { // he sees it already
			_, err = add(bob, private)
			w.code(err, models.CodeConflict)
		}
		hers, err := add(alice, true)
		w.ok(err)
		if his.Owner != "bob" || !his.Private() || hers.PrivateTo != "alice" {
			w.Errorf("%+v and %+v", his, hers)
		}
		yes, no := true, false
		share := func(ctx context.Context, of sites.Website, private *bool) error {
			_, err := w.Edit(ctx, of.ID, sites.Edit{Private: private})
			return err
		}
		w.ok(share(alice, hers, &no))
		w.code(share(bob, his, &no), models.CodeConflict)
		w.code(share(bob, hers, &yes), models.CodeForbidden)
		w.ok(share(bob, hers, &no)) // as it is
		third, err := add(w.as("carol"), true)
		w.code(err, models.CodeConflict) // the shared one
		if third.ID != "" {
			w.Error("a website beside the error")
		}
		w.ok(share(w.admin(), hers, &yes))
		shared, err := add(w.admin(), false)
		w.ok(err)
		w.ok(w.Delete(w.admin(), shared.ID))
		_, err = add(w.as("carol"), false)
		w.ok(err)
		_, err = w.Restore(w.admin(), shared.ID)
		w.code(err, models.CodeConflict)
		of, err := w.ByURLs(bob, "https://secret.example/a")
		w.ok(err)
		if len(of) != 0 {
			w.Errorf("pages %v", of)
		}
	})
}

// A website without credentials has used nothing, whatever others have used of its property.
func TestQuotaOfOthersDoesNotShow(t *testing.T) {
	each(t, func(w *world) {
		alice, bob := w.as("alice"), w.as("bob")
		p := w.secretOf(bob)
		_, err := w.Acquire(w.Context(), w.me, p.site, sites.CallInspect)
		w.ok(err)
		hers, err := w.Add(alice, sites.NewWebsite{SiteURL: secretURL})
		w.ok(err)
		used := func(ctx context.Context, of sites.Website) int {
			q, err := w.Quota(ctx, of)
			w.ok(err)
			if !q.Inspections.ResetsAt.After(w.Now().Time) {
				w.Errorf("resets at %s", q.Inspections.ResetsAt)
			}
			return q.Inspections.Used
		}
		if used(alice, hers) != 0 || used(bob, p.site) != 1 || used(w.admin(), hers) != 1 {
			w.Errorf("used: %d, %d, %d", used(alice, hers), used(bob, p.site), used(w.admin(), hers))
		}
	})
}

// What a request changes is recorded, without secrets. Background work is not.
func TestAuditOfWebsites(t *testing.T) {
	each(t, func(w *world) {
		for _, ctx := range []context.Context{w.Context(), w.as("bob")} {
			p := w.secretOf(ctx)
			id, key, name := p.site.ID, "canary-key-1", "Renamed"
			_, err := w.Edit(ctx, id, sites.Edit{Name: &name, IndexNowKey: &key})
			w.ok(err)
			_, err = w.Edit(ctx, id, sites.Edit{Name: &name}) // as it is
			w.ok(err)
			_, err = w.SetPriority(ctx, p.pageID(), nil)
			w.ok(err)
			_, err = w.WantSubmissions(ctx, id, p.pageID(), w.page(p.site, "/b").ID())
			w.ok(err)
			_, err = w.WantSubmission(ctx, p.pageID(), true)
			w.ok(err)
			_, err = w.WantVerification(ctx, p.pageID())
			w.ok(err)
			_, err = w.RemoveCredentials(ctx, id)
			w.ok(err)
			w.ok(w.DeleteSitemap(ctx, id, p.sitemapID()))
			w.ok(w.Delete(ctx, id))
			_, err = w.Restore(ctx, id)
			w.ok(err)
			w.ok(w.Delete(ctx, id))
		}
		var got []struct{ Actor, Action, SubjectName, Before, After string }
		w.ok(w.db.Read(w.Context()).Raw("SELECT * FROM audit_entries ORDER BY seq").Scan(&got).Error)
		var lines []string
		for _, g := range got {
			line := g.Actor + " " + g.Action + " " + g.Before + " " + g.After
			for _, secret := range []string{"canary", "0123456789"} {
				if strings.Contains(line, secret) {
					w.Errorf("a key is in %s", line)
				}
			}
			if g.Action == "website.submit" {
				line = "bob website.submit  " + fmt.Sprint(strings.Contains(g.After, `"count":2`))
			}
			lines = append(lines, strings.TrimSpace(line))
		}
		want := `bob website.add  {"auto_submit":true,"indexing_enabled":false,"indexnow":true,"name":"Secret","private":true,"site_url":"https://secret.example/"}
bob website.credentials  {"client_email":"robot@p.example","credentials":"set","project_id":"p"}
bob sitemap.add  `
		if s := strings.Join(lines, "\n"); !strings.HasPrefix(s, want) || !strings.HasSuffix(s, `
bob website.edit {"name":"Secret"} {"indexnow_key":"set","name":"Renamed"}
bob page.priority {"manual_priority":100} {"manual_priority":null}
bob website.submit  true
bob page.remove
bob page.verify
bob website.credentials {"client_email":"robot@p.example","project_id":"p"} {"credentials":"removed"}
bob sitemap.delete
bob website.delete
bob website.restore
bob website.delete`) {
			w.Errorf("got\n%s", s)
		}
	})
}

// What an account that is no admin reads takes the steps and the number of queries that it
// takes an admin.
func TestPlansOfRestrictedReads(t *testing.T) {
	w := newWorld(t, modelstest.New(t))
	for i := range 200 {
		_, err := w.Add(w.as([]string{"alice", "bob"}[i%2]), sites.NewWebsite{SiteURL: fmt.Sprintf("https://h%d.example/", i), Private: i%3 == 0})
		w.ok(err)
		w.clock.Advance(time.Second)
	}
	p := w.secretOf(w.as("alice"))
	for _, r := range reads {
		byAdmin := modelstest.Sent(t, w.db, func() error { w.told(w.admin(), p, r.do); return nil })
		sent := modelstest.Sent(t, w.db, func() error { w.told(w.as("alice"), p, r.do); return nil })
		if len(sent) != len(byAdmin) {
			t.Errorf("%s takes %d queries, for an admin %d", r.name, len(sent), len(byAdmin))
		}
		known := map[string]bool{}
		for _, s := range byAdmin {
			for _, step := range modelstest.Plan(t, w.db, s) {
				known[step] = true
			}
		}
		for _, s := range sent {
			for _, step := range modelstest.Plan(t, w.db, s) {
				if (modelstest.ReadsAll(step) || modelstest.Sorts(step)) && !known[step] {
					t.Errorf("%s: %s\n  %s", r.name, s.SQL, step)
				}
			}
		}
	}
}

// On the way back the shared website of a site_url stays.
func TestMigrationToPrivateWebsites(t *testing.T) {
	each(t, func(w *world) {
		his, err := w.Add(w.as("bob"), sites.NewWebsite{SiteURL: secretURL, Private: true})
		w.ok(err)
		hers, err := w.Add(w.as("alice"), sites.NewWebsite{SiteURL: secretURL})
		w.ok(err)
		for version := 123; version >= 123; {
			w.ok(w.db.MigrateDown(1))
			w.ok(w.db.Write(t.Context(), func(tx *gorm.DB) error {
				return tx.Raw("SELECT max(version) FROM schema_migrations").Scan(&version).Error
			})) // the readers would keep the old schema
		}
		w.ok(w.db.Migrate())
		_, err = w.Get(w.Context(), his.ID)
		w.code(err, models.CodeNotFound)
		got, err := w.Get(w.as("carol"), hers.ID)
		w.ok(err)
		if got.Owner != models.SystemOwner || got.Private() {
			w.Errorf("the website is %+v", got)
		}
	})
}
