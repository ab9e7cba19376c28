package targets_test

import (
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/targets"
)

func (f fixture) rows(table string) (n int64) {
	f.Helper()
	f.must(f.db.Read(f.Context()).Raw("SELECT count(*) FROM " + table).Scan(&n).Error)
	return n
}

type remove = func(tx *gorm.DB, limit int) (int64, error)

// reap runs one batch of the reaper and returns how many rows it deleted.
func (f fixture) reap(remove remove, limit int) (n int64) {
	f.Helper()
	f.must(f.db.Write(f.Context(), func(tx *gorm.DB) (err error) {
		n, err = remove(tx, limit)
		return err
	}))
	return n
}

// reapAll runs the reaper until it deletes nothing.
func (f fixture) reapAll() {
	f.Helper()
	for more := true; more; {
		more = false
		for _, remove := range []remove{f.ReapResults, f.ReapOutages, f.ReapTargets} {
			more = f.reap(remove, 1000) > 0 || more
		}
	}
}

// insertResults stores n results of a target, one microsecond apart.
func (f fixture) insertResults(id string, n int, from models.Time) {
	f.Helper()
	modelstest.Exec(f, f.db, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO check_results (target_seq, checked_at, outcome, status_code, latency_ms, attempts, error, interval_ms)
		SELECT CAST(? AS BIGINT), CAST(? AS BIGINT) + i, 0, 200, 1, 1, '', 1 FROM n`, n, f.get(id).Seq, from)
}

// insertOutage stores an outage of a target. Zero length means ongoing.
func (f fixture) insertOutage(id string, from models.Time, took time.Duration) (outage string) {
	f.Helper()
	end := models.Time{}
	if took > 0 {
		end = from.Add(took)
	}
	outage = models.NewID(models.KindOutage)
	modelstest.Exec(f, f.db, "INSERT INTO outages (id, target_seq, started_at, ended_at, cause) VALUES (?, ?, ?, ?, '')", outage, f.get(id).Seq, from, end)
	return outage
}

func TestReapDeletesOldResults(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test")
		_, err := f.Edit(f.Context(), made.ID, targets.Edit{IntervalSeconds: new(int(day / time.Second))})
		f.must(err)
		for range 40 {
			f.check(up(1))
		}
		before := f.get(made.ID).Uptime[targets.Last90d]
		oldest := f.results(targets.ResultFilter{})[39]
		if n := f.reap(f.ReapResults, 4); n != 4 || f.rows("check_results") != 36 {
			t.Errorf("a batch of 4 deleted %d, %d results are kept", n, f.rows("check_results"))
		}
		if got := f.results(targets.ResultFilter{}); !oldest.CheckedAt.Before(got[35].CheckedAt.Time) {
			t.Error("the oldest were not deleted first")
		}
		n, kept := f.reap(f.ReapResults, 1000), f.rows("check_results")
		if kept != 31 && kept != 30 || n != 36-kept || f.reap(f.ReapResults, 1000) != 0 {
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

// An ongoing outage of any age is kept.
func TestReapDeletesOldEndedOutages(t *testing.T) {
	each(t, func(f fixture) {
		id := f.add("https://a.test").ID
		begun := f.Now()
		f.insertOutage(id, begun.Add(-time.Microsecond), time.Hour)
		f.insertOutage(id, begun.Add(-day), day)
		kept := []string{f.insertOutage(id, begun, time.Hour), f.insertOutage(id, begun.Add(-time.Hour), 0)}
		f.clock.Advance(400 * day)
		for i, want := range []int64{1, 1, 0} {
			if n := f.reap(f.ReapOutages, 1); n != want {
				t.Errorf("batch %d deleted %d, want %d", i, n, want)
			}
		}
		if got := f.outages(id); len(got) != 2 || got[0].ID != kept[0] || got[1].ID != kept[1] {
			t.Errorf("%+v are kept, want %v", got, kept)
		}
	})
}

func TestReapDeletesTargetsAfterADay(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test")
		f.check(down())
		f.clock.Advance(25 * time.Hour)
		f.check(up(1))
		f.add("https://stays.test")
		_, err := f.AddPage(f.Context(), targets.PageSettings{Slug: "s", Title: "S", TargetIDs: []string{made.ID}})
		f.must(err)
		f.must(f.Delete(f.Context(), made.ID))
		f.clock.Advance(targets.KeepDeleted)
		f.reapAll()
		if targets, results := f.rows("targets"), f.rows("check_results"); targets != 2 || results != 2 {
			t.Errorf("%d targets and %d results while it can be restored", targets, results)
		}
		f.clock.Advance(time.Microsecond)
		_, err = f.Restore(f.Context(), made.ID)
		f.is(err, "not-found", "")
		f.reapAll()
		for table, want := range map[string]int64{
			"targets": 1, "check_results": 0, "target_hours": 0, "target_days": 0, "outages": 0,
			"status_page_targets": 0, "status_pages": 1,
		} {
			if n := f.rows(table); n != want {
				t.Errorf("%d rows in %s, want %d", n, table, want)
			}
		}
	})
}

// Each batch deletes up to its limit. A target with history is deleted after its history,
// and does not delay other targets.
func TestReapDeletesHistoryBeforeTargets(t *testing.T) {
	each(t, func(f fixture) {
		ids := f.addMany(3)
		f.insertResults(ids[0], 3, f.Now().Add(-31*day)) // older than RESULT_RETENTION
		f.insertResults(ids[1], 20, f.Now())
		for range 12 {
			f.insertOutage(ids[1], f.Now(), time.Hour)
		}
		for _, id := range ids[1:] {
			f.must(f.Delete(f.Context(), id))
		}
		f.clock.Advance(targets.KeepDeleted + time.Second)
		for i, want := range []struct{ results, outages, targets int64 }{
			{10, 10, 1}, // the target without history
			{10, 2, 0},
			{3, 0, 0},
			{0, 0, 1},
			{0, 0, 0},
		} {
			targets := f.reap(f.ReapTargets, 10)
			results, outages := f.reap(f.ReapResults, 10), f.reap(f.ReapOutages, 10)
			if results != want.results || outages != want.outages || targets != want.targets {
				t.Errorf("round %d deleted %d results, %d outages and %d targets, want %+v", i, results, outages, targets, want)
			}
		}
		if n := f.rows("targets"); n != 1 {
			t.Errorf("%d targets are kept", n)
		}
	})
}

// Roll-ups are deleted with their target, so a batch deletes fewer targets than its
// limit of rows.
func TestReapLimitsRollUps(t *testing.T) {
	each(t, func(f fixture) {
		for _, id := range f.addMany(6) {
			f.must(f.Delete(f.Context(), id))
		}
		f.clock.Advance(targets.KeepDeleted + time.Second)
		for limit, want := range map[int]int64{1: 1, 1000: 1, 3000: 2} {
			if n := f.reap(f.ReapTargets, limit); n != want {
				t.Errorf("a batch of %d rows deleted %d targets, want %d", limit, n, want)
			}
		}
	})
}
