package crawl_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// TestQueryPlans checks SQLite's plans for all frequent statements: none scans a whole table, and none sorts one.
func TestQueryPlans(t *testing.T) {
	w := newWorld(t, modelstest.New(t))
	var jobs []crawl.Job
	for i := range 200 {
		jobs = append(jobs, w.job(fmt.Sprintf("http://h%d.example/", i), 24*time.Hour))
	}
	w.clock.Advance(24 * time.Hour)
	seqs, _, err := w.DueJobs(t.Context(), 200)
	w.ok(err)
	var running crawl.Execution
	for _, seq := range seqs[:100] {
		running, _, err = w.StartExecution(t.Context(), w.me, seq)
		w.ok(err)
	}
	hosts, _, err := w.ClaimHosts(t.Context(), w.me, 50, 0)
	w.ok(err)
	var turns []*crawl.HostBatch
	for _, h := range hosts {
		turn := &crawl.HostBatch{Host: h}
		turn.Unfetched, err = w.LoadEntries(t.Context(), h, 10)
		w.ok(err)
		for len(turn.Unfetched) > 0 {
			turn.Add(fetched(turn, w.Now(), h.Host+"/a", "http://"+h.Host+"/b"))
		}
		turns = append(turns, turn)
	}
	ctx, after := t.Context(), models.Cursor{CreatedAt: jobs[10].CreatedAt, ID: jobs[10].ID}
	w.ok(w.Record(ctx, turns[1:]...))
	list, err := w.Frontier(ctx, crawl.EntryFilter{}, models.Cursor{}, 10)
	w.ok(err)
	entry := models.Cursor{CreatedAt: list.Items[3].CreatedAt, ID: list.Items[3].ID()}
	link := models.Cursor{CreatedAt: w.Now(), ID: models.TimedID(models.KindDiscovered, w.Now(), 1)}
	for i := range 50 {
		w.feed(fmt.Sprintf("http://h%d.example/feed.xml", i))
	}
	claimed, _, err := w.ClaimFeeds(ctx, w.me, 5)
	w.ok(err)
	feeds, err := w.Feeds(ctx, "", models.Cursor{}, 10)
	w.ok(err)
	page := crawl.Page{Seq: 1, SourceSeq: 1, URL: "http://h1.example/"}
	w.archive(page, "x")
	reap := func(remove func(*gorm.DB, int) (int64, error)) func() error {
		return func() error {
			return w.db.Write(ctx, func(tx *gorm.DB) error { _, err := remove(tx, 100); return err })
		}
	}
	for _, c := range []struct {
		name string
		do   func() error
	}{
		{"due jobs", func() error { _, _, err := w.DueJobs(ctx, 10); return err }},
		{"retry failed jobs", func() error { return w.RetryFailed(ctx) }},
		{"begin", func() error { _, _, err := w.StartExecution(ctx, w.me, seqs[150]); return err }},
		{"held", func() error { _, err := w.RunningExecutions(ctx, w.me); return err }},
		{"stale locks", func() error { _, err := w.ClearStaleLocks(ctx); return err }},
		{"claim hosts", func() error { _, _, err := w.ClaimHosts(ctx, w.me, 10, 0); return err }},
		{"load", func() error { _, err := w.LoadEntries(ctx, hosts[0], 10); return err }},
		{"record", func() error { return w.Record(ctx, turns[0]) }},
		{"still running", func() error { _, err := w.StillRunning(ctx, map[int64]bool{1: true}); return err }},
		{"crawled pages", func() error { _, err := w.Pages(ctx, crawl.PageFilter{}, models.Cursor{}, 50); return err }},
		{"crawled pages of a source", func() error {
			_, err := w.Pages(ctx, crawl.PageFilter{SourceID: jobs[0].SourceID}, models.Cursor{}, 50)
			return err
		}},
		{"search", func() error { _, err := w.Pages(ctx, crawl.PageFilter{Query: "t"}, models.Cursor{}, 50); return err }},
		{"index", func() error { _, err := w.IndexNext(ctx, 10); return err }},
		{"lag", func() error { _, err := w.IndexLag(ctx); return err }},
		{"crawled page", func() error { _, err := w.CrawledPage(ctx, models.TimedID(models.KindCrawled, w.Now(), 1)); return err }},
		{"versions", func() error { _, err := w.PageVersions(ctx, crawl.Page{Seq: 1}); return err }},
		{"page changes", func() error { _, err := w.PageChanges(ctx, running, "", models.Cursor{}, 50); return err }},
		{"page changes of a kind", func() error { _, err := w.PageChanges(ctx, running, crawl.PageGone, models.Cursor{}, 50); return err }},
		{"new pages", func() error { _, err := w.PageChanges(ctx, running, crawl.PageNew, models.Cursor{}, 50); return err }},
		{"broken links", func() error { _, err := w.BrokenLinks(ctx, running, models.Cursor{}, 50); return err }},
		{"report", func() error { _, err := w.NextReport(ctx); return err }},
		{"unsent", func() error { _, err := w.UnsentDocuments(ctx, 0, 50); return err }},
		{"delete pages", func() error {
			_, err := w.DeletePages(ctx, models.TimedID(models.KindCrawled, w.Now(), 1))
			return err
		}},
		{"restore pages", func() error { _, err := w.RestorePages(ctx, w.Now()); return err }},
		{"reap pages", reap(w.ReapPages)},
		{"known page", func() error { _, _, err := w.StoredPage(ctx, 1, "http://h1.example/"); return err }},
		{"jobs", func() error { _, err := w.Jobs(ctx, crawl.JobFilter{}, after, 50); return err }},
		{"jobs by text", func() error { _, err := w.Jobs(ctx, crawl.JobFilter{Text: "h1"}, after, 50); return err }},
		{"jobs by status", func() error { _, err := w.Jobs(ctx, crawl.JobFilter{Status: crawl.Running}, after, 50); return err }},
		{"jobs of a source", func() error {
			_, err := w.Jobs(ctx, crawl.JobFilter{SourceID: jobs[0].SourceID}, after, 50)
			return err
		}},
		{"named items", func() error {
			_, err := w.NamedItems(ctx, []string{jobs[0].SourceID, jobs[0].ID, models.TimedID(models.KindCrawled, w.Now(), 1)})
			return err
		}},
		{"job", func() error { _, err := w.Job(ctx, jobs[0].ID); return err }},
		{"sources", func() error { _, err := w.Sources(ctx, "", models.Cursor{}, 50); return err }},
		{"sources by text", func() error { _, err := w.Sources(ctx, "h1", models.Cursor{}, 50); return err }},
		{"executions", func() error { _, err := w.Executions(ctx, jobs[0], models.Cursor{}, 50); return err }},
		{"all executions", func() error {
			_, err := w.AllExecutions(ctx, crawl.ExecutionFilter{}, models.Cursor{CreatedAt: w.Now(), ID: running.ID}, 50)
			return err
		}},
		{"failed executions", func() error {
			_, err := w.AllExecutions(ctx, crawl.ExecutionFilter{Status: crawl.ExecutionFailed}, models.Cursor{}, 50)
			return err
		}},
		{"failed executions of a job", func() error {
			_, err := w.AllExecutions(ctx, crawl.ExecutionFilter{JobID: jobs[0].ID, Status: crawl.ExecutionFailed}, models.Cursor{}, 50)
			return err
		}},
		{"excerpts", func() error { _, err := w.Excerpts(ctx, crawl.Page{Seq: 1}, crawl.Page{Seq: 2}); return err }},
		{"stats", func() error { _, err := w.Stats(ctx, jobs[0]); return err }},
		{"log", func() error { _, err := w.Log(ctx, running, 1, 50); return err }},
		{"frontier", func() error { _, err := w.Frontier(ctx, crawl.EntryFilter{}, entry, 50); return err }},
		{"entries by host", func() error { _, err := w.Frontier(ctx, crawl.EntryFilter{Host: "h1.example"}, entry, 50); return err }},
		{"failed entries", func() error {
			_, err := w.Frontier(ctx, crawl.EntryFilter{Status: crawl.EntryFailed}, entry, 50)
			return err
		}},
		{"pending entries", func() error {
			_, err := w.Frontier(ctx, crawl.EntryFilter{Status: crawl.EntryPending}, entry, 50)
			return err
		}},
		{"entries of an execution", func() error {
			_, err := w.Frontier(ctx, crawl.EntryFilter{ExecutionID: running.ID}, entry, 50)
			return err
		}},
		{"entries of a source", func() error {
			_, err := w.Frontier(ctx, crawl.EntryFilter{SourceID: jobs[0].SourceID}, entry, 50)
			return err
		}},
		{"discovered links", func() error { _, err := w.DiscoveredLinks(ctx, crawl.DiscoveredFilter{}, link, 50); return err }},
		{"discovered links by host", func() error {
			_, err := w.DiscoveredLinks(ctx, crawl.DiscoveredFilter{Host: "h1.example"}, link, 50)
			return err
		}},
		{"discovered links by id", func() error { _, err := w.DiscoveredLinksByID(ctx, link.ID); return err }},
		{"delete discovered links", func() error { _, err := w.DeleteDiscoveredLinks(ctx, link.ID); return err }},
		{"restore discovered link", func() error {
			_, err := w.RestoreDiscoveredLink(ctx, link.ID)
			return missing(err)
		}},
		{"restore page", func() error {
			return missing(w.RestorePage(ctx, models.TimedID(models.KindCrawled, w.Now(), 1)))
		}},
		{"ensure source", func() error {
			_, _, err := w.EnsureSource(ctx, crawl.NewSource{URL: "http://h1.example/new", Enabled: true})
			return err
		}},
		{"restore discovered links", func() error { _, err := w.RestoreDiscoveredLinks(ctx, w.Now()); return err }},
		{"deleted links", func() error { _, err := w.DeletionAt(ctx, w.Now()); return err }},
		{"retry entries", func() error { _, err := w.RetryEntries(ctx, entry.ID); return err }},
		{"delete entries", func() error { _, err := w.DeleteEntries(ctx, entry.ID); return err }},
		{"schedule", func() error { _, _, err := w.Distribution(w.as("alice")); return err }},
		{"rebalance", func() error { _, err := w.PreviewRebalance(w.as("alice")); return err }},
		{"site", func() error { _, _, err := w.SiteOf(ctx, "http://h1.example/"); return err }},
		{"facts", func() error {
			_, err := w.FactsOf(ctx, []string{"http://h1.example/", "http://h1.example/a", "http://h2.example/b"})
			return err
		}},
		{"jobs of moves", func() error { _, err := w.MovedJobs(ctx, []crawl.Move{{Seq: jobs[0].Seq}}); return err }},
		{"has bodies", func() error { _, err := w.HaveBodies(ctx, bodyHash("y")); return err }},
		{"reserve a pack", func() error { _, err := w.ReservePack(ctx, "key", 1); return err }},
		{"record copies", func() error {
			_, err := w.RecordCopies(ctx, w.pack("x", "y"), w.newCopy(page, "x"), w.newCopy(page, "y"))
			return err
		}},
		{"copies", func() error { _, err := w.Copies(ctx, page, 10); return err }},
		{"archived", func() error { _, err := w.HaveCopies(ctx, page); return err }},
		{"due packs", func() error { _, err := w.ClaimPacks(ctx, 10); return err }},
		{"bodies of a pack", func() error { _, err := w.PackBodies(ctx, 1); return err }},
		{"move bodies", func() error { return w.MoveBodies(ctx, w.pack("x"), 1) }},
		{"packs deleted", func() error { return w.DeletePacks(ctx, 1) }},
		{"lost bodies", func() error { return w.MarkBodiesLost(ctx, "key", bodyHash("x")) }},
		{"reap archived copies", reap(w.ReapArchive)},
		{"reap discovered links", reap(w.ReapDiscoveredLinks)},
		{"feeds", func() error { _, err := w.Feeds(ctx, "", feeds.Next, 50); return err }},
		{"feeds of a source", func() error { _, err := w.Feeds(ctx, jobs[0].SourceID, models.Cursor{}, 50); return err }},
		{"due feeds", func() error { _, _, err := w.ClaimFeeds(ctx, w.me, 5); return err }},
		{"claim a host", func() error { _, _, _, err := w.ClaimHost(ctx, w.me, "http://h1.example/", 0); return err }},
		{"record polls", func() error {
			_, err := w.RecordPolls(ctx, &crawl.Poll{Feed: claimed[0], Outcome: crawl.PollRead, Entries: []string{"http://h0.example/entry"}})
			return err
		}},
		{"reap entries of feeds", reap(w.ReapFeedEntries)},
		{"changes", func() error { _, _, err := w.NewJobWatcher().Next(ctx); return err }},
		{"end", func() error { return w.EndExecution(ctx, running, crawl.ExecutionEnd{Event: crawl.Succeed}) }},
		{"reap frontier", reap(w.ReapFrontier)},
		{"reap executions", reap(w.ReapExecutions)},
		{"reap hosts", reap(w.ReapHosts)},
		{"reap sources", reap(w.ReapSources)},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, s := range modelstest.Sent(t, w.db, c.do) {
				for _, step := range modelstest.Plan(t, w.db, s) {
					// Rows from a CTE, rows of the statement itself, and the single row of totals.
					given := step == "SCAN due" || step == "SCAN r" || step == "SCAN f" || step == "SCAN free" || strings.Contains(s.SQL, "scheduler_totals") || strings.Contains(step, "instances") ||
						step == "SCAN placed" || step == "SCAN of_kind" || strings.HasPrefix(step, "SCAN (subquery") // the entries of a feed
					if modelstest.ReadsAll(step) && !given || modelstest.Sorts(step) && !strings.Contains(s.SQL, "{rows}") && !strings.Contains(s.SQL, "batch_rows") && !strings.Contains(s.SQL, "AS of_kind") && c.name != "schedule" { // a page of each kind; the slots of a day
						t.Errorf("%s\n  %s", s.SQL, step)
					}
				}
			}
		})
	}
}

// TestFactsReadByIndex checks that each engine looks up URLs in a large frontier by an index.
func TestFactsReadByIndex(t *testing.T) {
	each(t, func(w *world) {
		w.crawlPages(w.job("http://a.example/", 0), map[string]func(*crawl.Result){"/1": plain})
		rows := models.NewRows("crawl bigint, url text, url_hash bytes, linked_as text")
		for i := range 20_000 {
			linkedAs := ""
			if i%10 == 0 {
				linkedAs = fmt.Sprintf("http://a.example/from/%d", i)
			}
			rows.Add(i%3*100, fmt.Sprintf("http://a.example/to/%d", i), fmt.Appendf(nil, "%016d", i), linkedAs)
		}
		w.ok(w.db.Write(w.Context(), func(tx *gorm.DB) error {
			return rows.Exec(tx, `INSERT INTO frontier (crawl_seq, source_seq, host_seq, url, url_hash, depth, status, attempts, redirects, last_error, created_at, updated_at, linked_as)
				SELECT r.crawl, 1, 1, r.url, r.url_hash, 0, 'done', 0, 0, '', 1, 1, r.linked_as FROM {rows} AS r`).Error
		}))
		modelstest.Exec(w.T, w.db, "ANALYZE frontier")
		explain, unique := "EXPLAIN ", "frontier_crawl_seq_url_hash_scope_seq_key"
		if w.db.Engine == models.SQLite {
			explain, unique = "EXPLAIN QUERY PLAN ", "sqlite_autoindex_frontier_1"
		}
		indexes := []string{unique, "frontier_linked"}
		for _, s := range modelstest.Sent(w.T, w.db, func() error { _, err := w.FactsOf(w.Context(), []string{"http://a.example/x"}); return err }) {
			if !strings.Contains(s.SQL, "frontier AS u") {
				continue
			}
			if plan := w.explained(explain, s); len(indexes) == 0 || !strings.Contains(plan, indexes[0]) || strings.Contains(plan, "Seq Scan") || strings.Contains(plan, "SCAN u") {
				w.Errorf("%s\n%s", s.SQL, plan)
			}
			indexes = indexes[min(1, len(indexes)):]
		}
		if len(indexes) > 0 {
			w.Errorf("not used: %s", indexes)
		}
	})
}

func (w *world) explained(explain string, s modelstest.Statement) string {
	w.Helper()
	var steps []map[string]any
	w.ok(w.db.Read(w.Context()).Raw(explain+s.SQL, s.Vars...).Scan(&steps).Error)
	return fmt.Sprint(steps)
}

// missing returns an error unless it is CodeNotFound.
func missing(err error) error {
	if models.CodeOf(err) == models.CodeNotFound {
		return nil
	}
	return err
}

// TestExecutionsReadByIndex checks that each engine reads a page of many executions in order from an index.
func TestExecutionsReadByIndex(t *testing.T) {
	each(t, func(w *world) {
		w.job("http://a.example/", 0)
		e := w.begin()
		modelstest.Copies(w.T, w.db, "job_executions", 20_000, map[string]string{
			"id": "'e_' || i", "execution_number": "i + 1", "lock_token": "''", "crawl_seq": "i + 1000", "started_at": "i",
			"status": "CASE WHEN i % 100 = 0 THEN 'failed' ELSE 'completed' END", "completed_at": "i",
		})
		for _, table := range []string{"sources", "jobs", "job_executions"} {
			modelstest.Exec(w.T, w.db, "ANALYZE "+table)
		}
		explain := "EXPLAIN "
		if w.db.Engine == models.SQLite {
			explain = "EXPLAIN QUERY PLAN "
		}
		for index, f := range map[string]crawl.ExecutionFilter{"job_executions_started": {}, "job_executions_status": {Status: crawl.ExecutionFailed}} {
			for _, ctx := range []context.Context{w.Context(), w.as("alice")} {
				for _, s := range modelstest.Sent(w.T, w.db, func() error {
					_, err := w.AllExecutions(ctx, f, models.Cursor{CreatedAt: e.StartedAt, ID: e.ID}, 50)
					return err
				}) {
					if plan := w.explained(explain, s); !strings.Contains(plan, index) || strings.Contains(plan, "Sort") || strings.Contains(plan, "TEMP B-TREE") {
						w.Errorf("%s\n%s", s.SQL, plan)
					}
				}
			}
		}
	})
}
