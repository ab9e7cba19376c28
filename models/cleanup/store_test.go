package cleanup_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/cleanup"
	"linkwatch/models/modelstest"
)

// The names of two kinds of rows, in the order in which a run takes them.
const (
	notes = "notes"
	pages = "pages"
)

// fixture is a store, and a table of rows to delete.
type fixture struct {
	*testing.T
	*cleanup.Store
	db    *models.DB
	clock *modelstest.Clock
}

func each(t *testing.T, test func(f fixture)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := fixture{T: t, db: db, clock: modelstest.NewClock()}
		f.Store = f.another()
		modelstest.Exec(t, db, "CREATE TABLE old (id BIGINT PRIMARY KEY)")
		test(f)
	})
}

// another is the store of another instance: of the same database and clock.
func (f fixture) another() *cleanup.Store {
	return cleanup.NewStore(f.db, f.clock.Now, cleanup.Kind{Kind: notes}, cleanup.Kind{Kind: pages})
}

// fill makes n rows to delete.
func (f fixture) fill(n int) {
	f.Helper()
	modelstest.Exec(f, f.db, `WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < ?) INSERT INTO old SELECT id FROM n`, n)
}

func remove(tx *gorm.DB, limit int) (int64, error) {
	res := tx.Exec("DELETE FROM old WHERE id IN (SELECT id FROM old ORDER BY id LIMIT ?)", limit)
	return res.RowsAffected, res.Error
}

func (f fixture) batch(limit int, remove cleanup.Remove) int64 {
	f.Helper()
	n, err := f.Batch(f.Context(), pages, limit, remove)
	if err != nil {
		f.Fatal(err)
	}
	return n
}

func (f fixture) finish(r cleanup.Run) {
	f.Helper()
	if err := f.Finish(f.Context(), r); err != nil {
		f.Fatal(err)
	}
}

// of are the totals of a kind, as a store sees them that was opened just now.
func (f fixture) of(kind string) cleanup.Totals {
	f.Helper()
	all, err := f.another().Totals(f.Context())
	if err != nil || len(all) != len(f.Kinds()) {
		f.Fatalf("%d totals, %v", len(all), err)
	}
	for i, t := range all {
		if t.Kind != f.Kinds()[i].Kind {
			f.Fatalf("the totals begin with %s", t.Kind)
		}
		if t.Kind == kind {
			return t
		}
	}
	f.Fatalf("no totals of %s", kind)
	return cleanup.Totals{}
}

func (f fixture) rows(table string) (n int64) {
	f.Helper()
	if err := f.db.Read(f.Context()).Raw("SELECT count(*) FROM " + table).Scan(&n).Error; err != nil {
		f.Fatal(err)
	}
	return n
}

func TestBatchesAreCounted(t *testing.T) {
	each(t, func(f fixture) {
		if got := f.of(pages); got != (cleanup.Totals{Kind: pages}) {
			t.Errorf("before the first: %+v", got)
		}
		f.fill(25)
		for i, want := range []int64{10, 10, 5, 0} {
			if n := f.batch(10, remove); n != want {
				t.Errorf("batch %d deleted %d, want %d", i, n, want)
			}
		}
		// The batch that found nothing is not the last one.
		want := cleanup.Totals{Kind: pages, Cleaned: 25, LastBatchSize: 5}
		if got := f.of(pages); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		if got := f.of(notes); got.Cleaned != 0 {
			t.Errorf("another kind: %+v", got)
		}
	})
}

// What is deleted and what is counted are one transaction.
func TestABatchIsDeletedAndCountedOrNeither(t *testing.T) {
	each(t, func(f fixture) {
		f.fill(5)
		broken := errors.New("broken")
		n, err := f.Batch(t.Context(), pages, 3, func(tx *gorm.DB, limit int) (int64, error) {
			n, err := remove(tx, limit)
			return n, errors.Join(err, broken)
		})
		if !errors.Is(err, broken) || n != 0 || f.rows("old") != 5 || f.of(pages).Cleaned != 0 {
			t.Errorf("the deletion failed: %d, %v, %d left, %+v", n, err, f.rows("old"), f.of(pages))
		}
		modelstest.Exec(t, f.db, "ALTER TABLE cleanup_totals RENAME TO away")
		if n, err = f.Batch(t.Context(), pages, 3, remove); err == nil || n != 0 || f.rows("old") != 5 {
			t.Errorf("the count failed: %d, %v, %d left", n, err, f.rows("old"))
		}
		modelstest.Exec(t, f.db, "ALTER TABLE away RENAME TO cleanup_totals")
		ended, end := context.WithCancel(t.Context())
		end()
		if n, err = f.Batch(ended, pages, 3, remove); !errors.Is(err, context.Canceled) || n != 0 || f.rows("old") != 5 {
			t.Errorf("given up: %d, %v, %d left", n, err, f.rows("old"))
		}
	})
}

// Several instances, each with a store of its own, delete and count each row once.
func TestBatchesOfSeveralInstances(t *testing.T) {
	each(t, func(f fixture) {
		f.fill(300)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				mine := f.another()
				for {
					n, err := mine.Batch(t.Context(), pages, 7, remove)
					if err != nil {
						t.Error(err)
					}
					if n == 0 {
						return
					}
				}
			})
		}
		wg.Wait()
		if got := f.of(pages); got.Cleaned != 300 || f.rows("old") != 0 {
			t.Errorf("%d are left, %+v", f.rows("old"), got)
		}
	})
}

func TestStatisticsTracking(t *testing.T) {
	each(t, func(f fixture) {
		began := f.Now()
		run := func(r cleanup.Run) {
			f.clock.Advance(time.Minute)
			r.StartedAt, r.Kind = f.Now(), notes
			f.finish(r)
		}
		run(cleanup.Run{Duration: 100 * time.Millisecond, Cleaned: 7})
		run(cleanup.Run{Duration: 213400 * time.Microsecond})
		succeeded := f.Now()
		run(cleanup.Run{Duration: time.Hour, Cleaned: 1, Error: "broken\x00\n\xff" + strings.Repeat("é", 600)})
		got := f.of(notes)
		want := cleanup.Totals{
			Kind: notes, SuccessfulRuns: 2, FailedRuns: 1, Duration: 313400 * time.Microsecond, LastRunAt: succeeded,
		}
		if got != want || got.Average() != 156700*time.Microsecond || (cleanup.Totals{}).Average() != 0 {
			t.Errorf("%+v, average %v, want %+v", got, got.Average(), want)
		}
		runs, err := f.Runs(t.Context())
		if err != nil || len(runs) != 3 {
			t.Fatalf("%+v, %v", runs, err)
		}
		if r := runs[2]; r != (cleanup.Run{StartedAt: began.Add(time.Minute), Kind: notes, Duration: 100 * time.Millisecond, Cleaned: 7}) {
			t.Errorf("the first: %+v", r)
		}
		if e := runs[0].Error; !strings.HasPrefix(e, "broken \uFFFDé") || len([]rune(e)) != 500 {
			t.Errorf("the last failed with %q", e)
		}
	})
}

// Runs are kept whole: the last of them with all their kinds.
func TestTheLastRunsAreKept(t *testing.T) {
	each(t, func(f fixture) {
		for i := range cleanup.KeptRuns + 3 {
			f.clock.Advance(time.Minute)
			for _, kind := range []string{pages, notes} {
				f.finish(cleanup.Run{StartedAt: f.Now(), Kind: kind, Cleaned: int64(i)})
			}
		}
		runs, err := f.Runs(t.Context())
		if err != nil || len(runs) != 2*cleanup.KeptRuns {
			t.Fatalf("%d rows, %v", len(runs), err)
		}
		first, last := runs[0], runs[len(runs)-1]
		if first.Cleaned != cleanup.KeptRuns+2 || first.Kind != notes || last.Cleaned != 3 || last.Kind != pages {
			t.Errorf("from %+v to %+v", first, last)
		}
		if got := f.of(pages); got.SuccessfulRuns != cleanup.KeptRuns+3 {
			t.Errorf("%+v", got)
		}
		// A run that another instance began in the same moment adds to the one that is there.
		f.finish(cleanup.Run{StartedAt: f.Now(), Kind: pages, Cleaned: 5})
		if runs, err = f.Runs(t.Context()); err != nil || len(runs) != 2*cleanup.KeptRuns || runs[1].Cleaned != cleanup.KeptRuns+7 {
			t.Errorf("%+v, %v", runs[1], err)
		}
	})
}

func TestNoun(t *testing.T) {
	for label, want := range map[string][2]string{
		"Short links":    {"short link", "short links"},
		"Audit entries":  {"audit entry", "audit entries"},
		"API tokens":     {"API token", "API tokens"},
		"Visits by day":  {"visit by day", "visits by day"},
		"Coverage":       {"coverage", "coverage"},
		"Alert settings": {"alert setting", "alert settings"},
	} {
		if k := (cleanup.Kind{Label: label}); k.Noun(1) != want[0] || k.Noun(2) != want[1] || k.Noun(0) != want[1] {
			t.Errorf("%s: got %q and %q, want %q", label, k.Noun(1), k.Noun(2), want)
		}
	}
}
