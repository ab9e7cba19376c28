package elastic

import (
	"fmt"
	"time"

	"linkwatch/models"
	"linkwatch/models/crawl"
)

// Status is the health of the search engine.
type Status struct {
	Error       string      // error of the last batch, for operators; "" = none
	Detail      string      // the error as a sentence for users, without text of the search engine
	Since       models.Time // time of the first error; zero if there is none
	LastSuccess models.Time // when a whole batch was last accepted; zero = not since the start
}

// Status returns the health at the last batch.
func (s *Service) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

// note updates and logs the health after a batch.
func (s *Service) note(failure error) {
	now := s.opts.Clock.Now()
	s.mu.Lock()
	if failure == nil {
		s.status = Status{LastSuccess: now}
		s.metrics.lastSuccess.Set(float64(now.UnixMicro()) / 1e6)
	} else {
		if s.status.Error == "" {
			s.status.Since = now
		}
		s.status.Error, s.status.Detail = clip(failure.Error()), detail(failure)
	}
	s.mu.Unlock()
	switch {
	case failure != nil && s.failures.ready(s.opts.Clock):
		s.isFailing = true
		s.opts.Log.Warn("send documents failed", "error", clip(failure.Error()))
	case failure == nil && s.isFailing:
		s.isFailing = false
		s.opts.Log.Info("search engine available again")
	}
}

func detail(failure error) string {
	if code := status(failure); code != 0 {
		return fmt.Sprintf("The search engine returned status %d.", code)
	}
	return "The search engine is unavailable or its response is invalid."
}

// logRefused logs a refused document, at most once a minute.
func (s *Service) logRefused(d crawl.Document, reason string) {
	s.unlogged++
	if s.refusals.ready(s.opts.Clock) {
		s.opts.Log.Warn("search engine refused documents", "count", s.unlogged, "page_id", d.ID, "index", Index(d), "error", reason)
		s.unlogged = 0
	}
}

// minutely limits log lines to one a minute. The zero value is ready.
type minutely struct{ last time.Time }

func (m *minutely) ready(clock models.Clock) bool {
	now := clock.Instant()
	if !m.last.IsZero() && now.Sub(m.last) < time.Minute {
		return false
	}
	m.last = now
	return true
}
