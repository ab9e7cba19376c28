package crawl

import (
	"context"
	"fmt"
	"time"

	"linkwatch/models"
)

// figuresTTL is how long the figures of an account are cached, the same as the interval of CollectMetrics.
const figuresTTL = 30 * time.Second

// maxFigures is the maximum number of accounts in the cache.
const maxFigures = 1000

// VisibleMetrics returns the figures of the scheduler that the caller can see. For admins they are all. For others they cover the
// jobs and the load that they can see, and the stored executions of these jobs.
func (s *Store) VisibleMetrics(ctx context.Context, all Metrics) (m Metrics, err error) {
	tx := s.db.Read(ctx)
	if seesAll(tx) {
		return all, nil
	}
	name := models.Owner(ctx)
	if m, ok := s.figures.GetIfPresent(name); ok && s.clock.Now().Sub(m.At.Time) < figuresTTL {
		return *m, nil
	}
	m = Metrics{StaleLocksCleared: all.StaleLocksCleared, LastPollAt: all.LastPollAt}
	if m.Jobs, err = s.StatusCounts(ctx); err == nil {
		_, m.Score, err = s.Distribution(ctx)
	}
	if err == nil {
		visible, args := ofVisibleSource(tx, "j.source_seq")
		m.Executions, err = s.stats(tx, "job_seq IN (SELECT j.seq FROM jobs AS j WHERE "+visible+")", args...)
	}
	if err != nil {
		return Metrics{}, fmt.Errorf("collect scheduler metrics of an account: %w", err)
	}
	m.Executions.Total = m.Executions.Completed + m.Executions.Failed
	m.At = s.clock.Now()
	s.figures.Set(name, &m)
	return m, nil
}
