package cleanup

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Store stores the statistics. It is safe for concurrent use.
type Store struct {
	db    *models.DB
	clock models.Clock
	kinds []Kind
}

// NewStore returns a Store. kinds are all kinds of rows that the reaper deletes, in the order
// of a run.
func NewStore(db *models.DB, clock models.Clock, kinds ...Kind) *Store {
	return &Store{db, clock, kinds}
}

// Kinds returns the kinds of rows that the reaper deletes, in the order of a run.
func (s *Store) Kinds() []Kind { return s.kinds }

// Main returns the kind at the top of the statistics, or the zero Kind if there is none.
func (s *Store) Main() Kind {
	for _, k := range s.kinds {
		if k.Waiting != nil {
			return k
		}
	}
	return Kind{}
}

// Waiting returns the number of rows of the main kind that are due for deletion, up to
// MaxWaiting + 1.
func (s *Store) Waiting(ctx context.Context) (int, error) {
	if count := s.Main().Waiting; count != nil {
		return count(ctx, MaxWaiting+1)
	}
	return 0, nil
}

// Now returns the time of the store's clock.
func (s *Store) Now() models.Time { return s.clock.Now() }

// Batch runs remove for up to limit rows and returns their number. The same transaction adds
// the number to the totals, so they are exact after crashes and with several instances.
func (s *Store) Batch(ctx context.Context, kind string, limit int, remove Remove) (int64, error) {
	var n int64
	err := s.db.Write(ctx, func(tx *gorm.DB) (err error) {
		if n, err = remove(tx, limit); err != nil || n == 0 {
			return err
		}
		return add(tx, Totals{Kind: kind, Cleaned: n, LastBatchSize: n})
	})
	if err != nil {
		return 0, fmt.Errorf("delete batch of %s: %w", kind, err)
	}
	return n, nil
}

// Finish records the result of a run for a kind and deletes the oldest runs. Batch has already
// counted the rows.
func (s *Store) Finish(ctx context.Context, r Run) error {
	r.Error = models.Truncate(models.CleanLine(r.Error), maxError) // an error of a driver may be long and have many lines
	t := Totals{Kind: r.Kind, FailedRuns: 1}
	if r.Error == "" {
		t = Totals{Kind: r.Kind, SuccessfulRuns: 1, Duration: r.Duration, LastRunAt: s.Now()}
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := add(tx, t); err != nil {
			return err
		}
		// Two runs can start in the same microsecond only after a lease was lost. They count as one.
		err := tx.Exec(`INSERT INTO cleanup_runs (started_at, kind, duration_ns, cleaned, error) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (started_at, kind) DO UPDATE SET duration_ns = cleanup_runs.duration_ns + excluded.duration_ns,
				cleaned = cleanup_runs.cleaned + excluded.cleaned, error = excluded.error`,
			r.StartedAt, r.Kind, int64(r.Duration), r.Cleaned, r.Error).Error
		if err != nil {
			return err
		}
		return tx.Exec(`DELETE FROM cleanup_runs WHERE started_at < (
			SELECT DISTINCT started_at FROM cleanup_runs ORDER BY started_at DESC LIMIT 1 OFFSET ?)`, KeptRuns-1).Error
	})
	if err != nil {
		return fmt.Errorf("record reaper run for %s: %w", r.Kind, err)
	}
	return nil
}

// add adds t to the totals of its kind. Zero LastBatchSize and LastRunAt change nothing.
func add(tx *gorm.DB, t Totals) error {
	return tx.Exec(`INSERT INTO cleanup_totals (kind, cleaned, last_batch_size, successful_runs, failed_runs, duration_ns, last_run_at)
			VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (kind) DO UPDATE SET
			cleaned = cleanup_totals.cleaned + excluded.cleaned,
			last_batch_size = CASE excluded.last_batch_size WHEN 0 THEN cleanup_totals.last_batch_size ELSE excluded.last_batch_size END,
			successful_runs = cleanup_totals.successful_runs + excluded.successful_runs,
			failed_runs = cleanup_totals.failed_runs + excluded.failed_runs,
			duration_ns = cleanup_totals.duration_ns + excluded.duration_ns,
			last_run_at = COALESCE(excluded.last_run_at, cleanup_totals.last_run_at)`,
		t.Kind, t.Cleaned, t.LastBatchSize, t.SuccessfulRuns, t.FailedRuns, int64(t.Duration), t.LastRunAt).Error
}

// Totals returns the totals of all kinds in the order of Kinds, with zeros for kinds that never ran.
func (s *Store) Totals(ctx context.Context) ([]Totals, error) {
	var rows []Totals
	if err := s.db.Read(ctx).Raw("SELECT * FROM cleanup_totals").Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("read reaper totals: %w", err)
	}
	byKind := make(map[string]Totals, len(rows))
	for _, t := range rows {
		byKind[t.Kind] = t
	}
	all := make([]Totals, len(s.kinds))
	for i, kind := range s.kinds {
		all[i] = byKind[kind.Kind]
		all[i].Kind = kind.Kind
	}
	return all, nil
}

// Runs returns the last KeptRuns runs of all kinds, newest first, ordered by kind within a run.
func (s *Store) Runs(ctx context.Context) ([]Run, error) {
	var runs []Run
	err := s.db.Read(ctx).Raw("SELECT * FROM cleanup_runs ORDER BY started_at DESC, kind").Scan(&runs).Error
	if err != nil {
		return nil, fmt.Errorf("read reaper runs: %w", err)
	}
	return runs, nil
}
