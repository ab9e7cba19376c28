package targets_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models/modelstest"
	"linkwatch/models/targets"
)

func (f fixture) rows(table string) (n int64) {
	f.Helper()
	f.must(f.db.Read(f.Context()).Raw("SELECT count(*) FROM " + table).Scan(&n).Error)
	return n
}

// reap deletes old results and tells how many.
func (f fixture) reap(limit int) (n int64) {
	f.Helper()
	f.must(f.db.Write(f.Context(), func(tx *gorm.DB) (err error) {
		n, err = f.ReapResults(tx, limit)
		return err
	}))
	return n
}

func TestReapDropsOldResultsAndKeepsTheRest(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test")
		_, err := f.Edit(f.Context(), made.ID, targets.Edit{IntervalSeconds: ptr(int(day / time.Second))})
		f.must(err)
		for range 40 {
			f.check(up(1))
		}
		before := f.get(made.ID).Uptime[targets.Last90d]
		oldest := f.results(targets.ResultFilter{})[39]
		if n := f.reap(4); n != 4 || f.rows("check_results") != 36 {
			t.Errorf("a batch of 4 deleted %d, %d results are kept", n, f.rows("check_results"))
		}
		if got := f.results(targets.ResultFilter{}); !oldest.CheckedAt.Before(got[35].CheckedAt.Time) {
			t.Error("the oldest were not the first to go")
		}
		n, kept := f.reap(1000), f.rows("check_results")
		if kept != 31 && kept != 30 || n != 36-kept || f.reap(1000) != 0 {
			t.Errorf("%d more were deleted, %d are kept", n, kept)
		}
		for _, r := range f.results(targets.ResultFilter{}) {
			if r.CheckedAt.Before(f.Now().Add(-30 * day).Time) {
				t.Errorf("a result of %s is kept", r.CheckedAt)
			}
		}
		if after := f.get(made.ID).Uptime[targets.Last90d]; after != before || after.Up < 38*day || after.Down != 0 {
			t.Errorf("uptime was %+v, is %+v", before, after)
		}
	})
}

func TestPurgeRemovesDeletedTargetsAfterADay(t *testing.T) {
	each(t, func(f fixture) {
		made, _, err := f.Add(f.Context(), targets.New{URL: "https://a.test"})
		f.must(err)
		f.check(down())
		f.clock.Advance(25 * time.Hour)
		f.check(up(1))
		f.add("https://stays.test")
		_, err = f.AddPage(f.Context(), targets.PageSettings{Slug: "s", Title: "S", TargetIDs: []string{made.ID}})
		f.must(err)
		f.must(f.Delete(f.Context(), made.ID))
		f.clock.Advance(time.Hour)
		_, err = f.Purge(f.Context(), f.Context())
		f.must(err)
		if n := f.rows("targets"); n != 2 {
			t.Errorf("%d targets after an hour", n)
		}
		f.clock.Advance(day)
		_, err = f.Restore(f.Context(), made.ID)
		f.is(err, "not-found", "")
		summary, err := f.Purge(f.Context(), f.Context())
		f.must(err)
		for table, want := range map[string]int64{
			"targets": 1, "check_results": 0, "target_hours": 0, "target_days": 0, "outages": 0,
			"status_page_targets": 0, "status_pages": 1,
		} {
			if n := f.rows(table); n != want {
				t.Errorf("%d rows in %s, want %d (%s)", n, table, want, summary)
			}
		}
	})
}

// A purge deletes in batches, each in a transaction of its own, and begins none
// once the program stops.
func TestPurgeWorksInBatches(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test")
		f.must(f.db.Write(f.Context(), insertResults(f.get(made.ID).Seq, 2500)))
		f.must(f.Delete(f.Context(), made.ID))
		f.clock.Advance(25 * time.Hour)
		stopped, stop := context.WithCancel(f.Context())
		stop()
		_, err := f.Purge(stopped, f.Context())
		f.must(err)
		if n := f.rows("check_results"); n != 2500 {
			t.Errorf("%d results after a purge that was to begin nothing", n)
		}
		sent := modelstest.Statements(t, f.db)
		_, err = f.Purge(f.Context(), f.Context())
		f.must(err)
		deletes := 0
		for _, s := range sent() {
			if strings.HasPrefix(s.SQL, "DELETE FROM check_results ") {
				deletes++
			}
		}
		if n := f.rows("check_results"); n != 0 || deletes != 4 { // 1000, 1000, 500, none
			t.Errorf("%d results are left after %d deletions", n, deletes)
		}
	})
}
