package crawl

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// A result that the database rejects does not affect the others of its batch. All hosts are
// released.
func TestInvalidResultsDoNotAffectOthers(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		store, log, ctx := crawl.NewStore(db, time.Now, crawl.Options{StaleAfter: time.Minute}), modelstest.NewLog(t), t.Context()
		me := modelstest.Lease(t, db, "i_me")
		for _, host := range []string{"a", "b", "c"} {
			if _, err := store.AddJob(ctx, crawl.NewJob{URL: "http://" + host + ".example/", Interval: crawl.Interval{Type: crawl.Minutes}}); err != nil {
				t.Fatal(err)
			}
		}
		seqs, _, err := store.DueJobs(ctx, 10)
		if err != nil || len(seqs) != 3 {
			t.Fatalf("got %d due jobs, %v", len(seqs), err)
		}
		for _, seq := range seqs {
			if _, _, err := store.StartExecution(ctx, me, seq); err != nil {
				t.Fatal(err)
			}
		}
		q := &queue{store: store, log: slog.New(slog.NewTextHandler(log, nil))}
		hosts, _, err := q.Claim(ctx, me, 10)
		if err != nil || len(hosts) != 3 {
			t.Fatalf("got %d claimed hosts, %v", len(hosts), err)
		}
		for _, h := range hosts {
			if err := q.load(ctx, h); err != nil || len(h.Unfetched) != 1 {
				t.Fatalf("got %d URLs of %s, %v", len(h.Unfetched), h.Host.Host, err)
			}
			e := h.Unfetched[0]
			h.Unfetched = nil
			p := &crawl.Page{SourceSeq: e.Crawl.Source, CrawlSeq: e.CrawlSeq, URL: e.URL, StatusCode: 200, FetchedAt: store.Now()}
			if h.Host.Host == "b.example" {
				p.StatusCode = 5000 // violates a CHECK constraint
			}
			h.Add(crawl.Result{Entry: e, Status: crawl.EntryDone, Page: p})
		}
		if err := q.Finish(ctx, hosts); err != nil {
			t.Fatal(err)
		}
		list, err := store.Frontier(ctx, crawl.EntryFilter{}, models.Cursor{}, 10)
		if err != nil || len(list.Items) != 3 {
			t.Fatalf("got %d entries, %v", len(list.Items), err)
		}
		for _, e := range list.Items {
			want := "done "
			if e.URL == "http://b.example/" {
				want = "failed could not be stored"
			}
			if got := string(e.Status) + " " + e.LastError; got != want {
				t.Errorf("%s: got %s, want %s", e.URL, got, want)
			}
		}
		if log.Count(`level=ERROR msg="store crawl results failed" host=b.example`) != 1 || log.Count("store crawl results failed") != 1 {
			t.Error("got another log")
		}
		running, err := store.RunningExecutions(ctx, me)
		if err != nil || len(running) != 3 {
			t.Fatalf("got %d executions, %v", len(running), err)
		}
		for _, e := range running {
			end, over := endOf(e)
			if failed := strings.Contains(e.URL, "b.example"); !over || (end.Error == "start page: could not be stored") != failed || (end.Event == crawl.Fail) != failed {
				t.Errorf("crawl of %s: got ended %v, %+v", e.URL, over, end)
			}
		}
		if again, _, err := q.Claim(ctx, me, 10); err != nil || len(again) != 0 || q.claimed != 0 {
			t.Errorf("got %d due hosts and %d claimed hosts, %v", len(again), q.claimed, err)
		}
	})
}
