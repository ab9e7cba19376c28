package crawl

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// scheduledJobs is the condition for jobs with a next run, as in the index jobs_due.
const scheduledJobs = "next_run_at IS NOT NULL AND NOT source_disabled AND deleted_at IS NULL"

// slotLoad counts the jobs in each slot of the next day. and is an additional condition.
func (s *Store) slotLoad(tx *gorm.DB, and string, args ...any) (*ScheduleLoad, error) {
	var rows []struct {
		Slot, Every int64
		N           int
	}
	const us = int64(time.Second / time.Microsecond)
	err := tx.Raw(`SELECT next_run_at / ? AS slot, interval_seconds AS every, count(*) AS n FROM jobs WHERE `+scheduledJobs+` AND next_run_at < ? AND `+and+` GROUP BY 1, 2`,
		joinArgs([]any{SlotLength.Microseconds(), s.clock.Now().Add(Window)}, args...)...).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("count jobs per slot: %w", err)
	}
	load := NewLoad(s.clock.Now().Time)
	for _, r := range rows {
		load.Add(time.UnixMicro(r.Slot*int64(SlotLength.Seconds())*us), time.Duration(r.Every)*time.Second, r.N)
	}
	return load, nil
}

// Distribution returns the number of visible jobs in each slot of the next day, and how even it is (Load.Score).
func (s *Store) Distribution(ctx context.Context) (slots []Slot, score float64, err error) {
	tx := s.db.Read(ctx)
	visible, args := ofVisibleSource(tx, "jobs.source_seq")
	load, err := s.slotLoad(tx, visible, args...)
	if err != nil {
		return nil, 0, err
	}
	return load.Slots(), load.Score(), nil
}

// RebalancePlan is a rebalance: its moves, and the scores of the schedule before and after.
type RebalancePlan struct {
	Moves         []Move
	Before, After float64
}

// PreviewRebalance returns the plan that Rebalance would apply now, for the jobs that the caller can see.
func (s *Store) PreviewRebalance(ctx context.Context) (RebalancePlan, error) {
	return s.plan(s.db.Read(ctx))
}

func (s *Store) plan(tx *gorm.DB) (p RebalancePlan, err error) {
	var rows []struct {
		Seq       int64
		ID        string
		NextRunAt models.Time
		Every     int64
		MovedAt   models.Time
		OffPlan   bool
	}
	visible, args := ofVisibleSource(tx, "jobs.source_seq")
	err = tx.Raw("SELECT seq, id, next_run_at, interval_seconds AS every, moved_at, next_run_at <> planned_at AS off_plan FROM jobs WHERE "+scheduledJobs+" AND next_run_at < ? AND "+visible, joinArgs([]any{s.clock.Now().Add(Window)}, args...)...).Scan(&rows).Error
	if err != nil {
		return p, fmt.Errorf("load schedule: %w", err)
	}
	jobs := make([]PlannedJob, len(rows))
	for i, r := range rows {
		jobs[i] = PlannedJob{Seq: r.Seq, ID: r.ID, Next: r.NextRunAt.Time, Every: time.Duration(r.Every) * time.Second, MovedAt: r.MovedAt.Time, OffPlan: r.OffPlan}
	}
	p.Moves, p.Before, p.After = Rebalance(s.clock.Now().Time, jobs)
	return p, nil
}

// Rebalance moves jobs out of overfull slots, by the rules of the function Rebalance.
func (s *Store) Rebalance(ctx context.Context) (p RebalancePlan, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if p, err = s.plan(tx); err != nil {
			return err
		}
		rows, ids := models.NewRows("seq bigint, was bigint, next_run_at bigint"), make([]string, len(p.Moves))
		for i, m := range p.Moves {
			ids[i] = m.ID
			rows.Add(m.Seq, models.At(m.From), models.At(m.To))
		}
		now := s.clock.Now()
		if err := s.audit(tx, "job", "rebalance", ids); err != nil {
			return err
		}
		return rows.Exec(tx, `UPDATE jobs SET next_run_at = r.next_run_at, planned_at = r.next_run_at, moved_at = ?, updated_at = ?
			FROM {rows} AS r WHERE jobs.seq = r.seq AND jobs.next_run_at = r.was AND jobs.planned_at = r.was`, now, now).Error
	})
	if err != nil {
		return RebalancePlan{}, fmt.Errorf("rebalance schedule: %w", err)
	}
	signal(s.jobsChanged)
	return p, nil
}

// Metrics are figures of the scheduler on all instances.
type Metrics struct {
	Jobs              map[Status]int
	Executions        JobStats // since the database was created
	StaleLocksCleared int64
	LastPollAt        models.Time // by any instance
	Score             float64
	At                models.Time // when they were collected
}

// CollectMetrics counts the figures of the metrics. Its cost grows with the number of jobs, so callers run it every 30 s and not
// per request.
func (s *Store) CollectMetrics(ctx context.Context) (m Metrics, err error) {
	tx := s.db.Read(ctx)
	for _, read := range []func() error{
		func() (err error) { m.Jobs, err = s.StatusCounts(ctx); return },
		func() (err error) { _, m.Score, err = s.Distribution(ctx); return },
		func() error {
			var t struct {
				StaleLocksCleared, DurationUS int64
				Completed, Failed             int
				LastPollAt                    models.Time
			}
			err := tx.Raw("SELECT * FROM scheduler_totals").Scan(&t).Error
			m.StaleLocksCleared, m.LastPollAt = t.StaleLocksCleared, t.LastPollAt
			m.Executions = JobStats{Total: t.Completed + t.Failed, Completed: t.Completed, Failed: t.Failed}
			if t.Completed > 0 {
				m.Executions.AverageDuration = time.Duration(t.DurationUS/int64(t.Completed)) * time.Microsecond
			}
			return err
		},
	} {
		if err := read(); err != nil {
			return m, fmt.Errorf("collect scheduler metrics: %w", err)
		}
	}
	m.At = s.clock.Now()
	return m, nil
}

// RecordSchedulerPoll records the time of the latest poll for due jobs.
func (s *Store) RecordSchedulerPoll(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE scheduler_totals SET last_poll_at = ?", s.clock.Now()).Error
	})
}
