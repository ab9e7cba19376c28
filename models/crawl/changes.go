package crawl

import (
	"context"
	"fmt"
	"maps"
	"time"

	"linkwatch/models"
)

// JobWatcher reports changes of the jobs that the actor of Next can see. It is not safe for concurrent use.
type JobWatcher struct {
	s        *Store
	since    models.Time           // earlier changes were reported
	reported map[int64]models.Time // reported changes after since, by job
	runs     map[int64]models.Time // last reported progress, by execution
	ended    map[int64]models.Time // executions that ended after since and were reported
}

const (
	// changesOverlap is the maximum time between the timestamp of a transaction and its commit.
	changesOverlap    = 5 * time.Second
	maxChanges        = 500    // jobs per query
	maxChangesPerCall = 10_000 // approximate number of jobs per call
)

// NewJobWatcher returns a JobWatcher that reports changes from now on.
func (s *Store) NewJobWatcher() *JobWatcher {
	return &JobWatcher{s: s, since: s.clock.Now(), reported: map[int64]models.Time{}, runs: map[int64]models.Time{}, ended: map[int64]models.Time{}}
}

// Next returns the jobs that changed since the previous call, and the executions that progressed or ended. If several
// executions of a job started and ended between two calls, it returns the newest.
func (c *JobWatcher) Next(ctx context.Context) (changed []Job, ran []Execution, err error) {
	tx := c.s.db.Read(ctx)
	var js []Job
	visible, args := ofVisibleSource(tx, "j.source_seq")
	for at, seq := c.since, int64(0); ; {
		var some []Job
		err = tx.Raw("SELECT j.* FROM jobs AS j WHERE (j.updated_at, j.seq) > (?, ?) AND "+visible+" ORDER BY j.updated_at, j.seq LIMIT ?", joinArgs([]any{at, seq}, joinArgs(args, maxChanges)...)...).Scan(&some).Error
		if err != nil {
			return nil, nil, fmt.Errorf("find changed jobs: %w", err)
		}
		js = append(js, some...)
		if len(some) < maxChanges || len(js) > maxChangesPerCall {
			break
		}
		last := some[len(some)-1]
		at, seq = last.UpdatedAt, last.Seq
	}
	now := c.s.clock.Now()
	upTo := now.Add(-changesOverlap)
	if len(js) > maxChangesPerCall && js[len(js)-1].UpdatedAt.Before(upTo.Time) {
		upTo = js[len(js)-1].UpdatedAt
	}
	newest := models.NewRows("job_seq bigint, number bigint")
	for _, j := range js {
		if c.reported[j.Seq] != j.UpdatedAt {
			c.reported[j.Seq] = j.UpdatedAt
			changed = append(changed, j)
			newest.Add(j.Seq, j.Executions)
		}
	}
	// Executions that are running, and those that were running at the previous call.
	var running []int64
	err = tx.Raw("SELECT seq FROM job_executions WHERE status = 'running' ORDER BY crawl_seq LIMIT ?", maxChangesPerCall).Scan(&running).Error
	if err != nil {
		return nil, nil, fmt.Errorf("find running crawls: %w", err)
	}
	rows := models.RowsOf("seq bigint", running)
	for seq := range c.runs {
		rows.Add(seq)
	}
	// Executions that ended since, even if they were never reported.
	var ended []int64
	err = newest.Raw(tx, `SELECT e.seq FROM {rows} AS r CROSS JOIN job_executions AS e
		WHERE e.job_seq = r.job_seq AND e.execution_number = r.number AND e.completed_at > ?`, c.since).Scan(&ended).Error
	if err != nil {
		return nil, nil, fmt.Errorf("find crawls that ended: %w", err)
	}
	for _, seq := range ended {
		if _, known := c.ended[seq]; !known {
			rows.Add(seq)
		}
	}
	var es []Execution
	err = rows.Raw(tx, `SELECT e.*, j.id AS job_id FROM job_executions AS e JOIN jobs AS j ON j.seq = e.job_seq
		WHERE e.seq IN (SELECT seq FROM {rows} AS r) AND `+visible+` ORDER BY e.seq`, args...).Scan(&es).Error
	if err != nil {
		return nil, nil, fmt.Errorf("find progress of crawls: %w", err)
	}
	runs := map[int64]models.Time{}
	for _, e := range es {
		if e.Status == ExecutionRunning {
			runs[e.Seq] = e.ProgressAt
		} else {
			c.ended[e.Seq] = e.CompletedAt
		}
		if e.Status != ExecutionRunning || c.runs[e.Seq] != e.ProgressAt {
			ran = append(ran, e)
		}
	}
	c.runs = runs
	if upTo.After(c.since.Time) {
		c.since = upTo
		for _, known := range []map[int64]models.Time{c.reported, c.ended} {
			maps.DeleteFunc(known, func(_ int64, at models.Time) bool { return !at.After(upTo.Time) })
		}
	}
	return changed, ran, nil
}
