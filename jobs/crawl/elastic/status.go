package elastic

import (
	"fmt"
	"time"

	"linkwatch/models"
	"linkwatch/models/crawl"
)

// Status is how the search engine is.
type Status struct {
	Error       string      // why documents could not be sent, for people who may see the settings; "" = they could
	Detail      string      // the same in a sentence that tells nothing of the search engine's own text
	Since       models.Time // when that began; zero if there is no error
	LastSuccess models.Time // when all documents of a batch were taken last; zero = not since the start
}

// Status returns how the search engine was at the last batch.
func (s *Service) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

// note keeps and logs what a batch says of the search engine.
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
		s.opts.Log.Warn("sending documents to the search engine failed", "error", clip(failure.Error()))
	case failure == nil && s.isFailing:
		s.isFailing = false
		s.opts.Log.Info("search engine takes documents again")
	}
}

func detail(failure error) string {
	if code := status(failure); code != 0 {
		return fmt.Sprintf("The search engine answers with status %d.", code)
	}
	return "The search engine is unavailable, or its response cannot be read."
}

// logRefused logs a document that was refused, at most one each minute.
func (s *Service) logRefused(d crawl.Document, reason string) {
	s.unlogged++
	if s.refusals.ready(s.opts.Clock) {
		s.opts.Log.Warn("search engine refused documents", "count", s.unlogged, "page_id", d.ID, "index", Index(d), "error", reason)
		s.unlogged = 0
	}
}

// minutely is something that is logged at most once a minute. The zero value is ready.
type minutely struct{ last time.Time }

func (m *minutely) ready(clock models.Clock) bool {
	now := clock.Instant()
	if !m.last.IsZero() && now.Sub(m.last) < time.Minute {
		return false
	}
	m.last = now
	return true
}
