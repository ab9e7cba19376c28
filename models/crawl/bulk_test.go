package crawl_test

import (
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/crawl"
)

// entries returns the ids of the entries that match a filter.
func (w *world) entries(f crawl.EntryFilter) (ids []string) {
	w.Helper()
	list, err := w.Frontier(w.Context(), f, models.Cursor{}, 100)
	w.ok(err)
	for _, e := range list.Items {
		ids = append(ids, e.ID())
	}
	return ids
}

// canRetry checks the number of entries that can be retried.
func (w *world) canRetry(want int) {
	w.Helper()
	list, err := w.Frontier(w.Context(), crawl.EntryFilter{}, models.Cursor{}, 100)
	w.ok(err)
	n := 0
	for _, e := range list.Items {
		if e.CanRetry {
			n++
		}
	}
	if n != want {
		w.Errorf("%d entries can be retried, want %d", n, want)
	}
}

// failures starts a crawl in which all pages but the first fail.
func (w *world) failures(paths ...string) crawl.Execution {
	w.Helper()
	w.job("http://a.example/", 0)
	e := w.begin()
	tn := w.turn()
	tn.Add(fetched(tn, w.Now(), paths...))
	w.ok(w.Record(w.Context(), tn))
	tn = w.turn()
	for _, entry := range tn.Unfetched {
		tn.Add(crawl.Result{Entry: entry, Status: crawl.EntryFailed, Reason: "status 500"})
	}
	tn.Unfetched = nil
	w.ok(w.Record(w.Context(), tn))
	return e
}

func TestFiltersOfTheFrontier(t *testing.T) {
	each(t, func(w *world) {
		w.job("http://a.example/", 0)
		w.begin()
		tn := w.turn()
		tn.Add(fetched(tn, w.Now(), "http://b.example:81/Up", "http://b.example/x_y", "http://bb.example/"))
		w.ok(w.Record(w.Context(), tn))
		for _, c := range []struct {
			filter crawl.EntryFilter
			want   int
		}{
			{crawl.EntryFilter{}, 4},
			{crawl.EntryFilter{Host: "B.example"}, 2},
			{crawl.EntryFilter{Host: "b.example:81"}, 1},
			{crawl.EntryFilter{Host: "b"}, 0},
			{crawl.EntryFilter{Text: "/up"}, 1},
			{crawl.EntryFilter{Text: "x_"}, 1},
			{crawl.EntryFilter{Text: "example", Status: crawl.EntryPending}, 3},
			{crawl.EntryFilter{Text: "example", Host: "a.example"}, 1},
		} {
			if got := w.entries(c.filter); len(got) != c.want {
				w.Errorf("%+v finds %d, want %d", c.filter, len(got), c.want)
			}
		}
		for _, f := range []crawl.EntryFilter{{Host: string(make([]byte, 600))}, {Text: string(make([]byte, 600))}} {
			if _, err := w.Frontier(w.Context(), f, models.Cursor{}, 1); models.CodeOf(err) != models.CodeInvalid {
				w.Errorf("a filter of 600 bytes: %v", err)
			}
		}
	})
}

// TestDeleteEntries checks that deleted entries are counted at once, so that the crawl can end.
func TestDeleteEntries(t *testing.T) {
	each(t, func(w *world) {
		w.job("http://a.example/", 0)
		e := w.begin()
		tn := w.turn()
		tn.Add(fetched(tn, w.Now(), "http://a.example/1", "http://a.example/2", "http://a.example/3"))
		w.ok(w.Record(w.Context(), tn))
		_, _, err := w.AddEntry(w.Context(), "http://a.example/by-hand", "")
		w.ok(err)
		ids := w.entries(crawl.EntryFilter{})
		n, err := w.DeleteEntries(w.Context(), ids[0], ids[1], ids[2], ids[4], "f_none", models.TimedID(models.KindFrontier, w.Now(), 99))
		w.ok(err)
		e, err = w.Execution(w.Context(), e.ID)
		w.ok(err)
		if n != 4 || e.Queued != 1 || e.Fetched != 1 {
			w.Errorf("%d deleted, %d queued, %d fetched", n, e.Queued, e.Fetched)
		}
		if left := w.entries(crawl.EntryFilter{}); len(left) != 1 || left[0] != ids[3] {
			w.Errorf("left: %q", left)
		}
		if err := w.DeleteEntry(w.Context(), ids[0]); models.CodeOf(err) != models.CodeNotFound {
			w.Errorf("deleted twice: %v", err)
		}
		if _, err := w.DeleteEntries(w.Context(), make([]string, crawl.MaxBulk+1)...); models.CodeOf(err) != models.CodeInvalid {
			w.Errorf("too many: %v", err)
		}
	})
}

// TestRetryEntries checks that failed entries of a running crawl are fetched again and counted once.
func TestRetryEntries(t *testing.T) {
	each(t, func(w *world) {
		e := w.failures("http://a.example/1", "http://a.example/2", "http://a.example/3")
		ids := w.entries(crawl.EntryFilter{})
		w.canRetry(3)
		n, err := w.RetryEntries(w.Context(), ids[0], ids[1], ids[2]) // the first is done
		w.ok(err)
		e, err = w.Execution(w.Context(), e.ID)
		w.ok(err)
		if n != 2 || e.Queued != 2 || e.Failed != 1 || e.Fetched != 1 {
			w.Errorf("%d retried: %d queued, %d failed, %d fetched", n, e.Queued, e.Failed, e.Fetched)
		}
		if n, err := w.RetryEntries(w.Context(), ids[1], ids[2]); err != nil || n != 0 {
			w.Errorf("%d retried twice: %v", n, err)
		}
		w.crawlAll(func(string) []string { return nil })
		e, err = w.Execution(w.Context(), e.ID)
		w.ok(err)
		if e.Queued != 0 || e.Failed != 1 || e.Fetched != 3 {
			w.Errorf("in the end: %d queued, %d failed, %d fetched", e.Queued, e.Failed, e.Fetched)
		}
		w.ok(w.EndExecution(w.Context(), e, crawl.ExecutionEnd{Event: crawl.Succeed}))
		w.canRetry(0)
		if n, err := w.RetryEntries(w.Context(), ids[3]); err != nil || n != 0 {
			w.Errorf("%d retried of a crawl that has ended: %v", n, err)
		}
	})
}

// TestRetryOfEntryWithReapedHost checks that failed entries can be retried after their host was reaped.
func TestRetryOfEntryWithReapedHost(t *testing.T) {
	each(t, func(w *world) {
		w.failures("http://b.example/")
		ids := w.entries(crawl.EntryFilter{Status: crawl.EntryFailed})
		w.ok(w.db.Write(w.Context(), func(tx *gorm.DB) error { return tx.Exec("DELETE FROM crawl_hosts").Error }))
		n, err := w.RetryEntries(w.Context(), ids...)
		w.ok(err)
		if tn := w.turn(); n != 1 || len(tn.Unfetched) != 1 || tn.Unfetched[0].URL != "http://b.example/" {
			w.Errorf("%d retried, to fetch: %+v", n, tn.Unfetched)
		}
	})
}

// TestRetryOfManualEntry checks that a manual entry is retried while its source is enabled.
func TestRetryOfManualEntry(t *testing.T) {
	each(t, func(w *world) {
		_, _, err := w.AddEntry(w.Context(), "http://a.example/by-hand", "")
		w.ok(err)
		tn := w.turn()
		tn.Add(crawl.Result{Entry: tn.Unfetched[0], Status: crawl.EntryFailed, Reason: "status 500"})
		tn.Unfetched = nil
		w.ok(w.Record(w.Context(), tn))
		list, err := w.Frontier(w.Context(), crawl.EntryFilter{}, models.Cursor{}, 10)
		w.ok(err)
		id, source := list.Items[0].ID(), list.Items[0].SourceID
		_, err = w.EditSource(w.Context(), source, crawl.SourceEdit{Enabled: new(false)})
		w.ok(err)
		if n, err := w.RetryEntries(w.Context(), id); err != nil || n != 0 {
			w.Errorf("%d retried of a source that is disabled: %v", n, err)
		}
		_, err = w.EditSource(w.Context(), source, crawl.SourceEdit{Enabled: new(true)})
		w.ok(err)
		w.clock.Advance(time.Minute)
		if n, err := w.RetryEntries(w.Context(), id); err != nil || n != 1 {
			w.Errorf("%d retried: %v", n, err)
		}
		if tn := w.turn(); len(tn.Unfetched) != 1 {
			w.Errorf("to fetch: %+v", tn.Unfetched)
		}
	})
}
