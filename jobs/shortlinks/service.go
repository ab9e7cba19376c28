// Package shortlinks runs the background work of short links: it stores visits and
// keeps the cache up to date.
package shortlinks

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/jobs"
	"linkwatch/models/shortlinks"
	"linkwatch/models/shortlinks/cache"
	"linkwatch/models/shortlinks/visits"
)

const (
	// writeInterval is how often visits are stored.
	writeInterval = time.Second
	// pollInterval is the time between two polls for changes of other instances. Entries
	// stay valid if a poll ends within shortlinks.MaxStale of the start of the last one.
	pollInterval = time.Second
	writeTimeout = 10 * time.Second
	// finalWriteTimeout limits the last write after SHUTDOWN_GRACE, a tenth of which is
	// reserved for it.
	finalWriteTimeout = 300 * time.Millisecond
)

// Service is the background work of one store. Stop it after the listener, so that the
// last visits are stored.
type Service struct {
	*jobs.Background
	store   *shortlinks.Store
	counter *visits.Counter
	memory  *cache.Memory
	shared  *cache.Shared
	log     *slog.Logger
}

// NewService returns the service of a store, its counter and its cache. shared is nil
// without Redis. It returns an error if reg already has metrics of these names.
func NewService(store *shortlinks.Store, counter *visits.Counter, memory *cache.Memory, shared *cache.Shared,
	log *slog.Logger, reg prometheus.Registerer,
) (*Service, error) {
	if err := register(reg, store, counter, memory, shared); err != nil {
		return nil, err
	}
	s := &Service{store: store, counter: counter, memory: memory, shared: shared, log: log}
	s.Background = jobs.NewBackground(s.run)
	return s, nil
}

func (s *Service) run(taking, working context.Context) {
	var others sync.WaitGroup
	others.Go(func() { s.counter.Aggregate(taking) })
	others.Go(func() {
		s.each(taking, pollInterval, "poll for changed short links failed", func() error { return s.memory.Poll(taking, s.store) })
	})
	if s.shared != nil {
		others.Go(func() { s.shared.Listen(taking, s.store) })
	}
	s.each(taking, writeInterval, "store visits failed", func() error { return s.write(working, writeTimeout) })
	others.Wait() // all visits are aggregated
	err := s.write(working, writeTimeout)
	if err != nil {
		err = s.write(context.WithoutCancel(working), finalWriteTimeout)
	}
	if err != nil {
		s.log.Error("visits lost at shutdown", "visits", s.counter.Waiting(), "error", err)
	}
}

func (s *Service) write(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return s.counter.Write(ctx, s.store)
}

// each calls do until ctx ends, with an interval after each call. It logs the first of
// consecutive errors.
func (s *Service) each(ctx context.Context, interval time.Duration, failure string, do func() error) {
	timer := time.NewTimer(interval)
	defer timer.Stop()
	failed := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		err := do()
		timer.Reset(interval)
		if err != nil && !failed && ctx.Err() == nil {
			jobs.LogError(s.log, failure, err)
		}
		failed = err != nil
	}
}
