package crawl_test

import (
	"context"
	"strings"
	"testing"

	"linkwatch/models/crawl"
)

// TestAuditOfCrawls checks that changes by requests are recorded, once per batch and without unchanged values. Changes by
// background jobs are not.
func TestAuditOfCrawls(t *testing.T) {
	each(t, func(w *world) {
		bob := w.as("bob")
		name := "Renamed"
		for _, ctx := range []context.Context{w.Context(), bob} {
			src, err := w.AddSource(ctx, crawl.NewSource{URL: "http://x.example/", Name: "X", Enabled: true})
			w.ok(err)
			_, err = w.EditSource(ctx, src.ID, crawl.SourceEdit{Name: &name})
			w.ok(err)
			_, err = w.EditSource(ctx, src.ID, crawl.SourceEdit{Name: &name}) // unchanged
			w.ok(err)
			j, err := w.AddJob(ctx, crawl.NewJob{SourceID: src.ID, Interval: crawl.Interval{Count: 1, Type: crawl.Days}})
			w.ok(err)
			for _, e := range []crawl.Event{crawl.ForceRun, crawl.Pause, crawl.Resume} {
				_, err = w.Act(ctx, j.ID, e)
				w.ok(err)
			}
			_, err = w.EditJob(ctx, j.ID, crawl.JobEdit{Metadata: &crawl.Metadata{"a": 1}})
			w.ok(err)
			var ids []string
			for _, path := range []string{"1", "2"} {
				e, _, err := w.AddEntry(ctx, "http://x.example/"+path, src.ID)
				w.ok(err)
				ids = append(ids, e.ID())
			}
			_, err = w.DeleteEntries(ctx, ids...)
			w.ok(err)
			f, _, err := w.AddFeed(ctx, "http://x.example/feed", src.ID)
			w.ok(err)
			w.ok(w.PollFeed(ctx, f.ID()))
			w.ok(w.DeleteFeed(ctx, f.ID()))
			w.ok(w.DeleteJob(ctx, j.ID))
			_, err = w.RestoreJob(ctx, j.ID)
			w.ok(err)
			w.ok(w.DeleteSource(ctx, src.ID))
			_, err = w.RestoreSource(ctx, src.ID)
			w.ok(err)
			w.ok(w.DeleteSource(ctx, src.ID))
		}
		var got []struct{ Actor, Action, SubjectName, Before, After string }
		w.ok(w.db.Read(w.Context()).Raw("SELECT * FROM audit_entries ORDER BY seq").Scan(&got).Error)
		var lines []string
		for _, g := range got {
			line := g.Actor + " " + g.Action
			if g.Action == "source.edit" || g.Action == "job.edit" || g.Action == "job.pause" {
				line += " " + g.Before + " " + g.After
			}
			if g.Action == "frontier_entry.delete" && strings.Contains(g.After, `"count":2`) {
				line += " 2"
			}
			lines = append(lines, line)
		}
		want := `bob source.add
bob source.edit {"name":"X"} {"name":"Renamed"}
bob job.add
bob job.force_run
bob job.pause {"status":"scheduled"} {"status":"paused"}
bob job.resume
bob job.edit {"metadata":"{}"} {"metadata":"{\"a\":1}"}
bob frontier_entry.add
bob frontier_entry.add
bob frontier_entry.delete 2
bob feed.add
bob feed.poll
bob feed.delete
bob job.delete
bob job.restore
bob source.delete
bob source.restore
bob source.delete`
		if s := strings.Join(lines, "\n"); s != want {
			w.Errorf("got\n%s\nwant\n%s", s, want)
		}
	})
}
