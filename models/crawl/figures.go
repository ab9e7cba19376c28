package crawl

import (
	"context"
	"fmt"
	"time"

	"linkwatch/models"
)

// figuresFor is how long the figures of one account count, as Collect is called that often.
const figuresFor = 30 * time.Second

// maxFigures is how many accounts the store remembers figures of.
const maxFigures = 1000

// FiguresOf returns the figures of the scheduler that the caller may see. For admins they
// are all, as Collect returned them. Others see their own: jobs and load of what they see,
// and of its executions those that are kept.
func (s *Store) FiguresOf(ctx context.Context, all Metrics) (m Metrics, err error) {
	tx := s.db.Read(ctx)
	if seesAll(tx) {
		return all, nil
	}
	name := models.Owner(ctx)
	if m, ok := s.figures.GetIfPresent(name); ok && s.clock.Now().Sub(m.At.Time) < figuresFor {
		return m, nil
	}
	m = Metrics{StaleLocksCleared: all.StaleLocksCleared, LastPollAt: all.LastPollAt}
	if m.Jobs, err = s.StatusCounts(ctx); err == nil {
		_, m.Score, err = s.Distribution(ctx)
	}
	if err == nil {
		seen, args := ofVisibleSource(tx, "j.source_seq")
		m.Executions, err = s.stats(tx, "job_seq IN (SELECT j.seq FROM jobs AS j WHERE "+seen+")", args...)
	}
	if err != nil {
		return Metrics{}, fmt.Errorf("collecting the figures of an account: %w", err)
	}
	m.Executions.Total = m.Executions.Completed + m.Executions.Failed
	m.At = s.clock.Now()
	s.figures.Set(name, m)
	return m, nil
}
