package crawl_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// as returns a context of a non-admin account.
func (w *world) as(name string) context.Context {
	return models.WithActor(w.Context(), models.Actor{Name: name, Via: "session"})
}

func (w *world) admin() context.Context {
	return models.WithActor(w.Context(), models.Actor{Name: "root", Via: "session", SeesAll: true})
}

// private is the data of a private source of http://a.example. In the zero value nothing exists.
type private struct {
	source   crawl.Source
	job      crawl.Job
	run      crawl.Execution
	page     crawl.Page
	copy     string // hash
	entry    string // ids
	linkID   string
	feed     string
	pageID   string
	sourceID string
}

// secretOf creates a private source of bob with data of every kind.
func (w *world) secretOf(bob context.Context) (p private) {
	w.Helper()
	var err error
	zero := 0
	p.job, err = w.AddJob(bob, crawl.NewJob{
		URL: "http://a.example/", Interval: crawl.Interval{Count: 6, Type: crawl.Hours}, Source: crawl.NewSource{Name: "Secret", Private: true, RateLimitMS: &zero},
	})
	w.ok(err)
	p.source, err = w.Source(bob, p.job.SourceID)
	w.ok(err)
	p.sourceID = p.source.ID
	p.run = w.crawlSite(p.job, site{"/": "Home\n->/a\n->/dead", "/a": "Alpha secret"})
	p.job, p.page = w.get(p.job), w.page("/a")
	p.pageID = p.page.ID()
	w.archive(p.page, "body")
	p.copy = bodyHash("body").String()
	_, _, err = w.AddEntry(bob, "http://a.example/hand", "")
	w.ok(err)
	tn := w.turn()
	e := tn.Unfetched[0]
	tn.Unfetched = tn.Unfetched[1:]
	tn.Add(crawl.Result{
		Entry: e, Status: crawl.EntryFailed, Reason: "status 500", LogLine: "failed"})
	w.ok(w.Record(w.Context(), tn))
	list, err := w.Frontier(bob, crawl.EntryFilter{Text: "/hand"}, models.Cursor{}, 10)
	w.ok(err)
	p.entry = list.Items[0].ID()
	modelstest.Exec(w.T, w.db, `INSERT INTO discovered_links (source_seq, url, url_hash, text, found_on, created_at) VALUES (?, 'http://out.example/', ?, 'Out', 'http://a.example/', ?)`,
		p.source.Seq, []byte("0123456789abcdef"), w.Now())
	links, err := w.DiscoveredLinks(bob, crawl.DiscoveredFilter{}, models.Cursor{}, 10)
	w.ok(err)
	p.linkID = links.Items[0].ID()
	f, _, err := w.AddFeed(bob, "http://a.example/feed.xml", "")
	w.ok(err)
	p.feed = f.ID()
	return p
}

// reads are all reads, as applied to private data. Those with own look up URLs in the scope of the caller, even for admins.
var reads = []struct {
	name string
	own  bool
	same bool // the result must be the same as without the private source
	do   func(w *world, ctx context.Context, p private) (any, error)
}{
	{"source", false, false, func(w *world, ctx context.Context, p private) (any, error) { return w.Source(ctx, p.sourceID) }},
	{"sources", false, false, func(w *world, ctx context.Context, _ private) (any, error) {
		return w.Sources(ctx, "", models.Cursor{}, 50)
	}},
	{"sources with a text", false, false, func(w *world, ctx context.Context, _ private) (any, error) {
		return w.Sources(ctx, "secret", models.Cursor{}, 50)
	}},
	{"job", false, false, func(w *world, ctx context.Context, p private) (any, error) { return w.Job(ctx, p.job.ID) }},
	{"jobs", false, false, func(w *world, ctx context.Context, _ private) (any, error) {
		return w.Jobs(ctx, crawl.JobFilter{}, models.Cursor{}, 50)
	}},
	{"jobs by status", false, false, func(w *world, ctx context.Context, _ private) (any, error) {
		return w.Jobs(ctx, crawl.JobFilter{Status: crawl.Scheduled}, models.Cursor{}, 50)
	}},
	{"jobs with a text", false, false, func(w *world, ctx context.Context, _ private) (any, error) {
		return w.Jobs(ctx, crawl.JobFilter{Text: "a.example"}, models.Cursor{}, 50)
	}},
	{"jobs of a source", false, false, func(w *world, ctx context.Context, p private) (any, error) {
		return w.Jobs(ctx, crawl.JobFilter{SourceID: p.sourceID, Text: "a.example"}, models.Cursor{}, 50)
	}},
	{"counts", false, false, func(w *world, ctx context.Context, _ private) (any, error) { return w.StatusCounts(ctx) }},
	{"find", false, false, func(w *world, ctx context.Context, _ private) (any, error) { return w.Find(ctx, "a.example", 10) }},
	{"last executions", false, false, func(w *world, ctx context.Context, p private) (any, error) {
		return w.LastExecutions(ctx, []crawl.Job{p.job})
	}},
	{"executions", false, false, func(w *world, ctx context.Context, p private) (any, error) {
		return w.Executions(ctx, p.job, models.Cursor{}, 10)
	}},
	{"all executions", false, false, func(w *world, ctx context.Context, _ private) (any, error) {
		return w.AllExecutions(ctx, crawl.ExecutionFilter{}, models.Cursor{}, 10)
	}},
	{"executions by job and status", false, false, func(w *world, ctx context.Context, p private) (any, error) {
		return w.AllExecutions(ctx, crawl.ExecutionFilter{JobID: p.job.ID, Status: p.run.Status}, models.Cursor{}, 10)
	}},
	{"execution", false, false, func(w *world, ctx context.Context, p private) (any, error) { return w.Execution(ctx, p.run.ID) }},
	{"changes of pages", false, false, func(w *world, ctx context.Context, p private) (any, error) {
		return w.PageChanges(ctx, p.run, "", models.Cursor{}, 10)
	}},
	{"broken links", false, false, func(w *world, ctx context.Context, p private) (any, error) {
		return w.BrokenLinks(ctx, p.run, models.Cursor{}, 10)
	}},
	{"frontier", false, false, func(w *world, ctx context.Context, _ private) (any, error) {
		return w.Frontier(ctx, crawl.EntryFilter{}, models.Cursor{}, 50)
	}},
	{"frontier of an execution", false, false, func(w *world, ctx context.Context, p private) (any, error) {
		return w.Frontier(ctx, crawl.EntryFilter{ExecutionID: p.run.ID, Text: "a.example"}, models.Cursor{}, 50)
	}},
	{"entry", false, false, func(w *world, ctx context.Context, p private) (any, error) { return w.Entry(ctx, p.entry) }},
	{"discovered links", false, false, func(w *world, ctx context.Context, _ private) (any, error) {
		return w.DiscoveredLinks(ctx, crawl.DiscoveredFilter{}, models.Cursor{}, 50)
	}},
	{"discovered links by id", false, false, func(w *world, ctx context.Context, p private) (any, error) {
		return w.DiscoveredLinksByID(ctx, p.linkID)
	}},
	{"discovered link", false, false, func(w *world, ctx context.Context, p private) (any, error) { return w.DiscoveredLink(ctx, p.linkID) }},
	{"feeds", false, false, func(w *world, ctx context.Context, _ private) (any, error) {
		return w.Feeds(ctx, "", models.Cursor{}, 50)
	}},
	{"feed", false, false, func(w *world, ctx context.Context, p private) (any, error) { return w.Feed(ctx, p.feed) }},
	{"pages", false, false, func(w *world, ctx context.Context, _ private) (any, error) {
		return w.Pages(ctx, crawl.PageFilter{}, models.Cursor{}, 50)
	}},
	{"pages of a source", false, false, func(w *world, ctx context.Context, p private) (any, error) {
		return w.Pages(ctx, crawl.PageFilter{SourceID: p.sourceID, Query: "alpha"}, models.Cursor{}, 50)
	}},
	{"search", false, false, func(w *world, ctx context.Context, _ private) (any, error) {
		return w.Pages(ctx, crawl.PageFilter{Query: "alpha"}, models.Cursor{}, 50)
	}},
	{"search by day", false, false, func(w *world, ctx context.Context, _ private) (any, error) {
		return w.Pages(ctx, crawl.PageFilter{Since: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)}, models.Cursor{}, 50)
	}},
	{"page", false, false, func(w *world, ctx context.Context, p private) (any, error) { return w.CrawledPage(ctx, p.pageID) }},
	{"pages by id", false, false, func(w *world, ctx context.Context, p private) (any, error) { return w.PagesByID(ctx, p.pageID) }},
	{"copies", false, false, func(w *world, ctx context.Context, p private) (any, error) { return w.Copies(ctx, p.page, 10) }},
	{"copy", false, false, func(w *world, ctx context.Context, p private) (any, error) {
		return w.ArchivedCopy(ctx, p.pageID, p.copy)
	}},
	{"site", true, false, func(w *world, ctx context.Context, _ private) (any, error) {
		s, ok, err := w.SiteOf(ctx, "http://a.example/a")
		return fmt.Sprint(s, ok), err
	}},
	{"facts", true, false, func(w *world, ctx context.Context, _ private) (any, error) {
		return w.FactsOf(ctx, []string{"http://a.example/a", "http://a.example/hand"})
	}},
	{"distribution", false, false, func(w *world, ctx context.Context, _ private) (any, error) {
		slots, score, err := w.Distribution(ctx)
		return fmt.Sprint(jobsIn(slots), score), err
	}},
	{"preview", false, true, func(w *world, ctx context.Context, _ private) (any, error) { return w.PreviewRebalance(ctx) }},
	{"jobs of moves", false, false, func(w *world, ctx context.Context, p private) (any, error) {
		return w.MovedJobs(ctx, []crawl.Move{{Seq: p.job.Seq}})
	}},
	{"lag", false, true, func(w *world, ctx context.Context, _ private) (any, error) { return w.IndexLag(ctx) }},
	{"figures", false, false, func(w *world, ctx context.Context, _ private) (any, error) {
		all, err := w.CollectMetrics(w.Context())
		w.ok(err)
		m, err := w.VisibleMetrics(ctx, all)
		return fmt.Sprint(m.Jobs, m.Executions.Total, m.Executions.Completed), err
	}},
}

func jobsIn(slots []crawl.Slot) (n int) {
	for _, s := range slots {
		n += s.Jobs
	}
	return n
}

// resultOf formats the result of a read.
func (w *world) resultOf(ctx context.Context, p private, do func(*world, context.Context, private) (any, error)) string {
	w.Helper()
	got, err := do(w, ctx, p)
	if m, ok := errors.AsType[*models.Error](err); ok {
		return fmt.Sprint(m.Code, m.Detail)
	}
	w.ok(err)
	return fmt.Sprintf("%+v", got)
}

// TestReadsSkipPrivateSources checks that no read shows a private source to a user who cannot see it.
func TestReadsSkipPrivateSources(t *testing.T) {
	each(t, func(w *world) {
		alice, bob := w.as("alice"), w.as("bob")
		_, err := w.AddJob(alice, crawl.NewJob{URL: "http://b.example/", Interval: crawl.Interval{Count: 1, Type: crawl.Days}})
		w.ok(err)
		before := map[string]string{}
		for _, r := range reads {
			before[r.name] = w.resultOf(alice, private{}, r.do)
		}
		p := w.secretOf(bob)
		w.clock.Advance(time.Minute) // otherwise the statistics are cached
		for _, r := range reads {
			if got := w.resultOf(alice, p, r.do); got != before[r.name] {
				w.Errorf("%s: alice reads %s\nand before %s", r.name, got, before[r.name])
			}
			if r.same {
				continue
			}
			if got := w.resultOf(bob, p, r.do); got == before[r.name] {
				w.Errorf("%s: bob reads only %s", r.name, got)
			}
			if got := w.resultOf(w.admin(), p, r.do); (got == before[r.name]) != r.own {
				w.Errorf("%s: an admin reads %s", r.name, got)
			}
		}
	})
}

// TestChangesSkipPrivateSources checks that streams report only jobs that their reader can see.
func TestChangesSkipPrivateSources(t *testing.T) {
	each(t, func(w *world) {
		of := map[string]*crawl.JobWatcher{}
		readers := map[string]context.Context{"alice": w.as("alice"), "bob": w.as("bob"), "root": w.admin(), "background": w.Context()}
		for name := range readers {
			of[name] = w.NewJobWatcher()
		}
		w.clock.Advance(time.Second)
		p := w.secretOf(readers["bob"])
		_, err := w.Act(readers["bob"], p.job.ID, crawl.ForceRun)
		w.ok(err)
		w.begin() // it is now running
		for name, ctx := range readers {
			jobs, runs, err := of[name].Next(ctx)
			w.ok(err)
			if sees := len(jobs) > 0 && len(runs) > 0; sees != (name != "alice") {
				w.Errorf("%s is told of %v and %v", name, jobs, runs)
			}
		}
	})
}

// TestWritesRefusePrivateSources checks that a user who cannot see a source cannot change its data, and gets the errors
// for missing data.
func TestWritesRefusePrivateSources(t *testing.T) {
	each(t, func(w *world) {
		alice, bob := w.as("alice"), w.as("bob")
		p := w.secretOf(bob)
		own, err := w.AddJob(alice, crawl.NewJob{URL: "http://b.example/", Interval: crawl.Interval{Count: 1, Type: crawl.Days}})
		w.ok(err)
		gone, err := w.AddJob(bob, crawl.NewJob{SourceID: p.sourceID})
		w.ok(err)
		w.ok(w.DeleteJob(bob, gone.ID))
		hidden, err := w.AddSource(bob, crawl.NewSource{URL: "http://c.example/", Private: true})
		w.ok(err)
		w.ok(w.DeleteSource(bob, hidden.ID))
		links, err := w.DeleteDiscoveredLinks(bob, p.linkID)
		w.ok(err)
		root := w.page("/").ID()
		pages, err := w.DeletePages(bob, root)
		w.ok(err)
		yes, name := true, "Mine"
		none := func(n int, err error) error {
			if n != 0 {
				w.Errorf("%d were changed", n)
			}
			return errors.Join(err, models.NotFound("any"))
		}
		before := w.rows()
		for _, c := range []struct {
			name string
			code models.Code
			do   func() error
		}{
			{"add job", models.CodeInvalid, func() error {
				_, err := w.AddJob(alice, crawl.NewJob{SourceID: p.sourceID})
				return err
			}},
			{"move job", models.CodeInvalid, func() error {
				_, err := w.EditJob(alice, own.ID, crawl.JobEdit{SourceID: &p.sourceID})
				return err
			}},
			{"edit job", models.CodeNotFound, func() error {
				_, err := w.EditJob(alice, p.job.ID, crawl.JobEdit{Paused: &yes})
				return err
			}},
			{"pause", models.CodeNotFound, func() error { _, err := w.Act(alice, p.job.ID, crawl.Pause); return err }},
			{"resume", models.CodeNotFound, func() error { _, err := w.Act(alice, p.job.ID, crawl.Resume); return err }},
			{"cancel", models.CodeNotFound, func() error { _, err := w.Act(alice, p.job.ID, crawl.Cancel); return err }},
			{"retry", models.CodeNotFound, func() error { _, err := w.Act(alice, p.job.ID, crawl.Retry); return err }},
			{"force run", models.CodeNotFound, func() error { _, err := w.Act(alice, p.job.ID, crawl.ForceRun); return err }},
			{"delete job", models.CodeNotFound, func() error { return w.DeleteJob(alice, p.job.ID) }},
			{"restore job", models.CodeNotFound, func() error { _, err := w.RestoreJob(alice, gone.ID); return err }},
			{"edit source", models.CodeNotFound, func() error {
				_, err := w.EditSource(alice, p.sourceID, crawl.SourceEdit{Name: &name})
				return err
			}},
			{"delete source", models.CodeNotFound, func() error { return w.DeleteSource(alice, p.sourceID) }},
			{"restore source", models.CodeNotFound, func() error { _, err := w.RestoreSource(alice, hidden.ID); return err }},
			{"add entry", models.CodeInvalid, func() error {
				_, _, err := w.AddEntry(alice, "http://a.example/x", p.sourceID)
				return err
			}},
			{"delete entry", models.CodeNotFound, func() error { return w.DeleteEntry(alice, p.entry) }},
			{"delete entries", models.CodeNotFound, func() error { return none(w.DeleteEntries(alice, p.entry)) }},
			{"retry entries", models.CodeNotFound, func() error { return none(w.RetryEntries(alice, p.entry)) }},
			{"retry entry", models.CodeNotFound, func() error { _, err := w.RetryEntry(alice, p.entry); return err }},
			{"restore page", models.CodeNotFound, func() error { return w.RestorePage(alice, root) }},
			{"restore discovered link", models.CodeNotFound, func() error { _, err := w.RestoreDiscoveredLink(alice, p.linkID); return err }},
			{"add feed", models.CodeInvalid, func() error {
				_, _, err := w.AddFeed(alice, "http://a.example/feed.xml", p.sourceID)
				return err
			}},
			{"delete feed", models.CodeNotFound, func() error { return w.DeleteFeed(alice, p.feed) }},
			{"poll feed", models.CodeNotFound, func() error { return w.PollFeed(alice, p.feed) }},
			{"delete pages", models.CodeNotFound, func() error { d, err := w.DeletePages(alice, p.pageID); return none(d.N, err) }},
			{"restore pages", models.CodeNotFound, func() error { return none(w.RestorePages(alice, pages.At)) }},
			{"delete discovered", models.CodeNotFound, func() error { d, err := w.DeleteDiscoveredLinks(alice, p.linkID); return none(d.N, err) }},
			{"deleted discovered", models.CodeNotFound, func() error { d, err := w.DeletionAt(alice, links.At); return none(d.N, err) }},
			{"restore discovered", models.CodeNotFound, func() error { return none(w.RestoreDiscoveredLinks(alice, links.At)) }},
			{"rebalance", models.CodeNotFound, func() error { plan, err := w.Rebalance(alice); return none(len(plan.Moves), err) }},
		} {
			if err := c.do(); models.CodeOf(err) != c.code {
				w.Errorf("%s: %v, want %s", c.name, err, c.code)
			}
			if after := w.rows(); after != before {
				w.Fatalf("%s changed\n%s\nto\n%s", c.name, before, after)
			}
		}
		// The owner and admins can.
		for _, ctx := range []context.Context{bob, w.admin()} {
			for _, e := range []crawl.Event{crawl.ForceRun, crawl.Pause, crawl.Resume} {
				_, err := w.Act(ctx, p.job.ID, e)
				w.ok(err)
			}
			_, err := w.EditSource(ctx, p.sourceID, crawl.SourceEdit{Name: &name})
			w.ok(err)
		}
		if n, err := w.RestorePages(bob, pages.At); err != nil || n != 1 {
			w.Errorf("%d restored: %v", n, err)
		}
		if n, err := w.RetryEntries(bob, p.entry); err != nil || n != 1 {
			w.Errorf("%d retried: %v", n, err)
		}
	})
}

// rows returns all rows that writes could change.
func (w *world) rows() string {
	w.Helper()
	var b strings.Builder
	for _, table := range []string{"sources", "jobs", "job_executions", "frontier", "crawled_pages", "discovered_links", "feeds", "audit_entries"} {
		var all []map[string]any
		w.ok(w.db.Read(w.Context()).Raw("SELECT * FROM " + table + " ORDER BY seq").Scan(&all).Error)
		fmt.Fprintln(&b, table, all)
	}
	return b.String()
}
