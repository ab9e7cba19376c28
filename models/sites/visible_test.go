package sites_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/sites"
)

// as is the context of an account that is not an admin.
func (w *fixture) as(name string) context.Context {
	return models.WithActor(w.Context(), models.Actor{Name: name, Via: "session"})
}

func (w *fixture) admin() context.Context {
	return models.WithActor(w.Context(), models.Actor{Name: "root", Via: "session", SeesAll: true})
}

// privateData identifies data of a private website. The zero value identifies none.
type privateData struct {
	site    sites.Website
	sitemap sites.Sitemap
	page    sites.Page
	boost   sites.Boost
}

func (p privateData) pageID() string {
	if p.page.Seq == 0 {
		return ""
	}
	return p.page.ID()
}

func (p privateData) sitemapID() string {
	if p.sitemap.Seq == 0 {
		return ""
	}
	return p.sitemap.ID()
}

const secretURL = "https://secret.example/"

// addSecret adds a private website of bob with all kinds of data and problems.
func (w *fixture) addSecret(bob context.Context) (p privateData) {
	w.Helper()
	var err error
	p.site, err = w.Add(bob, sites.NewWebsite{SiteURL: secretURL, Name: "Secret", IndexNowKey: "0123456789", Private: true})
	w.must(err)
	p.site, err = w.SetCredentials(bob, p.site.ID, []byte("{}"), sites.Account{ClientEmail: "robot@p.example", ProjectID: "p"})
	w.must(err)
	p.sitemap, _, err = w.AddSitemap(bob, p.site.ID, secretURL+"sitemap.xml")
	w.must(err)
	p.sitemap = w.read(p.site, p.sitemap, w.entry(secretURL+"a", 1), w.entry(secretURL+"b", -1))
	w.must(w.RecordRead(w.Context(), p.sitemap, sites.ReadResult{Error: "status 500"}))
	p.page = w.page(p.site, "/a")
	_, err = w.BeginSubmission(w.Context(), p.site, sites.Submission{Method: sites.ByIndexNow, Action: sites.Updated, Pages: 1})
	w.must(err)
	w.must(w.RecordServiceOutcome(w.Context(), p.site, sites.Indexing, sites.Outcome{Status: sites.Refused, Sitewide: true, Error: "no owner"}))
	w.must(w.KeyChecked(w.Context(), p.site, "no key file"))
	p.boost, err = w.SetPriorities(bob, p.site.ID, sites.Filter{}, new(100))
	w.must(err)
	modelstest.Exec(w.T, w.db, "INSERT INTO page_counts (website_seq, status, cause, pages) VALUES (?, 'failed', 'x', 1)", p.site.Seq)
	p.site, err = w.Get(bob, p.site.ID)
	w.must(err)
	return p
}

// reads are all read operations. own marks lookups by URL, which are in the scope of the caller, for admins too.
var reads = []struct {
	name string
	own  bool
	do   func(w *fixture, ctx context.Context, p privateData) (any, error)
}{
	{"website", false, func(w *fixture, ctx context.Context, p privateData) (any, error) { return w.Get(ctx, p.site.ID) }},
	{"websites", false, func(w *fixture, ctx context.Context, _ privateData) (any, error) {
		return w.List(ctx, models.Cursor{}, 50)
	}},
	{"with Google errors", false, func(w *fixture, ctx context.Context, _ privateData) (any, error) {
		return w.WithProblem(ctx, sites.ProblemGoogle, models.Cursor{}, 50)
	}},
	{"with IndexNow errors", false, func(w *fixture, ctx context.Context, _ privateData) (any, error) {
		return w.WithProblem(ctx, sites.ProblemIndexNow, models.Cursor{}, 50)
	}},
	{"with sitemap errors", false, func(w *fixture, ctx context.Context, _ privateData) (any, error) {
		return w.WithProblem(ctx, sites.ProblemSitemaps, models.Cursor{}, 50)
	}},
	{"with failed pages", false, func(w *fixture, ctx context.Context, _ privateData) (any, error) {
		return w.WithProblem(ctx, sites.ProblemPages, models.Cursor{}, 50)
	}},
	{"problem counts", false, func(w *fixture, ctx context.Context, _ privateData) (any, error) {
		n, in, err := w.ProblemCounts(ctx)
		return fmt.Sprint(n, in), err
	}},
	{"find", false, func(w *fixture, ctx context.Context, _ privateData) (any, error) { return w.Find(ctx, "secret", 10) }},
	{"find pages", false, func(w *fixture, ctx context.Context, _ privateData) (any, error) {
		return w.FindPages(ctx, "secret", 10)
	}},
	{"named items", false, func(w *fixture, ctx context.Context, p privateData) (any, error) {
		return w.NamedItems(ctx, []string{p.site.ID, p.pageID()})
	}},
	{"pages", false, func(w *fixture, ctx context.Context, p privateData) (any, error) {
		return w.Pages(ctx, p.site.ID, sites.Filter{}, models.Cursor{}, 50)
	}},
	{"page", false, func(w *fixture, ctx context.Context, p privateData) (any, error) { return w.Page(ctx, p.pageID()) }},
	{"pages by id", false, func(w *fixture, ctx context.Context, p privateData) (any, error) {
		return w.PagesByID(ctx, p.site.ID, p.pageID())
	}},
	{"pages by URL", true, func(w *fixture, ctx context.Context, _ privateData) (any, error) {
		return w.PagesByURL(ctx, secretURL+"a")
	}},
	{"sitemaps", false, func(w *fixture, ctx context.Context, p privateData) (any, error) {
		return w.SitemapsOf(ctx, p.site.ID, models.Cursor{}, 50)
	}},
	{"sitemap", false, func(w *fixture, ctx context.Context, p privateData) (any, error) {
		return w.Sitemap(ctx, p.site.ID, p.sitemapID())
	}},
	{"tree", false, func(w *fixture, ctx context.Context, p privateData) (any, error) { return w.SitemapTree(ctx, p.site) }},
	{"submissions", false, func(w *fixture, ctx context.Context, p privateData) (any, error) {
		return w.Submissions(ctx, p.site.ID, sites.SubmissionFilter{}, models.Cursor{}, 50)
	}},
}

func (w *fixture) result(ctx context.Context, p privateData, do func(*fixture, context.Context, privateData) (any, error)) string {
	w.Helper()
	got, err := do(w, ctx, p)
	if m, ok := errors.AsType[*models.Error](err); ok {
		return fmt.Sprint(m.Code, m.Detail)
	}
	w.must(err)
	return fmt.Sprintf("%+v", got)
}

// For an account that cannot see a website, every read returns the same as without it.
func TestReadsRespectPrivateWebsites(t *testing.T) {
	each(t, func(w *fixture) {
		alice, bob := w.as("alice"), w.as("bob")
		_, err := w.Add(alice, sites.NewWebsite{SiteURL: "https://other.example/"})
		w.must(err)
		before := map[string]string{}
		for _, r := range reads {
			before[r.name] = w.result(alice, privateData{}, r.do)
		}
		p := w.addSecret(bob)
		for _, r := range reads {
			if got := w.result(alice, p, r.do); got != before[r.name] {
				w.Errorf("%s: alice reads %s\nbefore %s", r.name, got, before[r.name])
			}
			if got := w.result(bob, p, r.do); got == before[r.name] {
				w.Errorf("%s: bob reads %s", r.name, got)
			}
			if got := w.result(w.admin(), p, r.do); (got == before[r.name]) != r.own {
				w.Errorf("%s: an admin reads %s", r.name, got)
			}
		}
	})
}

// An account that cannot see a website cannot change it and gets CodeNotFound.
func TestWritesRespectPrivateWebsites(t *testing.T) {
	each(t, func(w *fixture) {
		alice, bob := w.as("alice"), w.as("bob")
		p := w.addSecret(bob)
		gone, err := w.Add(bob, sites.NewWebsite{SiteURL: "https://gone.example/", Private: true})
		w.must(err)
		w.must(w.Delete(bob, gone.ID))
		id, name := p.site.ID, "Mine"
		writes := []struct {
			name string
			do   func(ctx context.Context) error
		}{
			{"edit", func(ctx context.Context) error { _, err := w.Edit(ctx, id, sites.Edit{Name: &name}); return err }},
			{"sitemaps", func(ctx context.Context) error { _, err := w.Request(ctx, id, sites.Reading); return err }},
			{"add sitemap", func(ctx context.Context) error {
				_, _, err := w.AddSitemap(ctx, id, secretURL+"more.xml")
				return err
			}},
			{"priority", func(ctx context.Context) error { _, err := w.SetPriority(ctx, p.pageID(), new(50)); return err }},
			{"priorities of", func(ctx context.Context) error {
				_, err := w.SetPrioritiesByID(ctx, id, new(60), p.pageID())
				return err
			}},
			{"priorities", func(ctx context.Context) error {
				_, err := w.SetPriorities(ctx, id, sites.Filter{}, new(70))
				return err
			}},
			{"undo", func(ctx context.Context) error { _, err := w.UndoPriorities(ctx, id, p.boost.At); return err }},
			{"submit", func(ctx context.Context) error { _, err := w.RequestSubmission(ctx, p.pageID(), false); return err }},
			{"remove", func(ctx context.Context) error { _, err := w.RequestSubmission(ctx, p.pageID(), true); return err }},
			{"verify", func(ctx context.Context) error { _, err := w.RequestVerification(ctx, p.pageID()); return err }},
			{"submit some", func(ctx context.Context) error { _, err := w.RequestSubmissions(ctx, id, p.pageID()); return err }},
			{"verify some", func(ctx context.Context) error { _, err := w.RequestVerifications(ctx, id, p.pageID()); return err }},
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
		for _, c := range writes { // the owner can
			if err := c.do(bob); err != nil {
				w.Errorf("%s: %v", c.name, err)
			}
		}
	})
}

func (w *fixture) rows() string {
	w.Helper()
	var b strings.Builder
	for _, table := range []string{"websites", "sitemaps", "pages", "submissions", "audit_entries"} {
		var all []map[string]any
		w.must(w.db.Read(w.Context()).Raw("SELECT * FROM " + table + " ORDER BY seq").Scan(&all).Error)
		fmt.Fprintln(&b, table, all)
	}
	return b.String()
}

// site_url is unique among shared websites, and among the private websites of each account.
func TestWebsitesAreUniqueByScope(t *testing.T) {
	each(t, func(w *fixture) {
		alice, bob := w.as("alice"), w.as("bob")
		add := func(ctx context.Context, private bool) (sites.Website, error) {
			return w.Add(ctx, sites.NewWebsite{SiteURL: secretURL, Private: private})
		}
		bobsSite, err := add(bob, true)
		w.must(err)
		for _, private := range []bool{false, true} { // bob can already see it
			_, err = add(bob, private)
			w.wantCode(err, models.CodeConflict)
		}
		alicesSite, err := add(alice, true)
		w.must(err)
		if bobsSite.Owner != "bob" || !bobsSite.Private() || alicesSite.PrivateTo != "alice" {
			w.Errorf("%+v and %+v", bobsSite, alicesSite)
		}
		yes, no := true, false
		share := func(ctx context.Context, of sites.Website, private *bool) error {
			_, err := w.Edit(ctx, of.ID, sites.Edit{Private: private})
			return err
		}
		w.must(share(alice, alicesSite, &no))
		w.wantCode(share(bob, bobsSite, &no), models.CodeConflict)
		w.wantCode(share(bob, alicesSite, &yes), models.CodeForbidden)
		w.must(share(bob, alicesSite, &no)) // unchanged
		third, err := add(w.as("carol"), true)
		w.wantCode(err, models.CodeConflict) // conflicts with the shared website
		if third.ID != "" {
			w.Error("got a website with an error")
		}
		w.must(share(w.admin(), alicesSite, &yes))
		shared, err := add(w.admin(), false)
		w.must(err)
		w.must(w.Delete(w.admin(), shared.ID))
		_, err = add(w.as("carol"), false)
		w.must(err)
		_, err = w.Restore(w.admin(), shared.ID)
		w.wantCode(err, models.CodeConflict)
		of, err := w.PagesByURL(bob, "https://secret.example/a")
		w.must(err)
		if len(of) != 0 {
			w.Errorf("pages %v", of)
		}
	})
}

// A website without credentials shows no usage, even if others used quotas of its property.
func TestQuotaOfOthersIsHidden(t *testing.T) {
	each(t, func(w *fixture) {
		alice, bob := w.as("alice"), w.as("bob")
		p := w.addSecret(bob)
		_, err := w.Acquire(w.Context(), w.me, p.site, sites.CallInspect)
		w.must(err)
		alicesSite, err := w.Add(alice, sites.NewWebsite{SiteURL: secretURL})
		w.must(err)
		used := func(ctx context.Context, of sites.Website) int {
			q, err := w.Quota(ctx, of)
			w.must(err)
			if !q.Inspections.ResetsAt.After(w.Now().Time) {
				w.Errorf("resets at %s", q.Inspections.ResetsAt)
			}
			return q.Inspections.Used
		}
		if used(alice, alicesSite) != 0 || used(bob, p.site) != 1 || used(w.admin(), alicesSite) != 1 {
			w.Errorf("used: %d, %d, %d", used(alice, alicesSite), used(bob, p.site), used(w.admin(), alicesSite))
		}
	})
}

// The audit log has all changes made by requests, without secrets, and none made by jobs.
func TestAuditOfWebsites(t *testing.T) {
	each(t, func(w *fixture) {
		for _, ctx := range []context.Context{w.Context(), w.as("bob")} {
			p := w.addSecret(ctx)
			id, key, name := p.site.ID, "canary-key-1", "Renamed"
			_, err := w.Edit(ctx, id, sites.Edit{Name: &name, IndexNowKey: &key})
			w.must(err)
			_, err = w.Edit(ctx, id, sites.Edit{Name: &name}) // unchanged
			w.must(err)
			_, err = w.SetPriority(ctx, p.pageID(), nil)
			w.must(err)
			_, err = w.RequestSubmissions(ctx, id, p.pageID(), w.page(p.site, "/b").ID())
			w.must(err)
			_, err = w.RequestSubmission(ctx, p.pageID(), true)
			w.must(err)
			_, err = w.RequestVerification(ctx, p.pageID())
			w.must(err)
			_, err = w.RemoveCredentials(ctx, id)
			w.must(err)
			w.must(w.DeleteSitemap(ctx, id, p.sitemapID()))
			w.must(w.Delete(ctx, id))
			_, err = w.Restore(ctx, id)
			w.must(err)
			w.must(w.Delete(ctx, id))
		}
		var got []struct{ Actor, Action, SubjectName, Before, After string }
		w.must(w.db.Read(w.Context()).Raw("SELECT * FROM audit_entries ORDER BY seq").Scan(&got).Error)
		var lines []string
		for _, g := range got {
			line := g.Actor + " " + g.Action + " " + g.Before + " " + g.After
			for _, secret := range []string{"canary", "0123456789"} {
				if strings.Contains(line, secret) {
					w.Errorf("secret in %s", line)
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

// Restricted reads use the same query plans and number of queries as those of an admin.
func TestPlansOfRestrictedReads(t *testing.T) {
	w := newFixture(t, modelstest.New(t))
	for i := range 200 {
		_, err := w.Add(w.as([]string{"alice", "bob"}[i%2]), sites.NewWebsite{SiteURL: fmt.Sprintf("https://h%d.example/", i), Private: i%3 == 0})
		w.must(err)
		w.clock.Advance(time.Second)
	}
	p := w.addSecret(w.as("alice"))
	for _, r := range reads {
		byAdmin := modelstest.Sent(t, w.db, func() error { w.result(w.admin(), p, r.do); return nil })
		sent := modelstest.Sent(t, w.db, func() error { w.result(w.as("alice"), p, r.do); return nil })
		if len(sent) != len(byAdmin) {
			t.Errorf("%s: %d queries, %d for an admin", r.name, len(sent), len(byAdmin))
		}
		adminSteps := map[string]bool{}
		for _, s := range byAdmin {
			for _, step := range modelstest.Plan(t, w.db, s) {
				adminSteps[step] = true
			}
		}
		for _, s := range sent {
			for _, step := range modelstest.Plan(t, w.db, s) {
				if (modelstest.ReadsAll(step) || modelstest.Sorts(step)) && !adminSteps[step] {
					t.Errorf("%s: %s\n  %s", r.name, s.SQL, step)
				}
			}
		}
	}
}
