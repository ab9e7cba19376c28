// Package shortlinks does the background work of short links: it stores visits and
// keeps the cache current.
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
	// lookInterval is the time between two looks at what other instances changed.
	// The cache stays current if a look ends within shortlinks.MaxStale of the
	// beginning of the one before, so a look may take as long again.
	lookInterval = time.Second
	// writeTime is how long storing visits may take.
	writeTime = 10 * time.Second
	// lastTime is how long storing the last visits may take after the program's grace
	// has ended, a tenth of which is left for that.
	lastTime = 300 * time.Millisecond
)

// Service does the work for one store. Stop it when no redirect can come any more,
// so that the last visits are stored too.
type Service struct {
	*jobs.Background
	store   *shortlinks.Store
	counter *visits.Counter
	memory  *cache.Memory
	shared  *cache.Shared
	log     *slog.Logger
}

// NewService makes the service of a store, its counter and its cache. shared is the
// Redis behind the cache, nil if there is none. It fails if reg has metrics of these
// names.
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
	others.Go(func() { s.counter.Gather(taking) })
	others.Go(func() {
		s.each(taking, lookInterval, "changes of short links by other instances are not seen", func() error { return s.memory.Look(taking, s.store) })
	})
	if s.shared != nil {
		others.Go(func() { s.shared.Listen(taking, s.store) })
	}
	s.each(taking, writeInterval, "visits are not written down", func() error { return s.write(working, writeTime) })
	others.Wait() // all visits are gathered
	err := s.write(working, writeTime)
	if err != nil {
		err = s.write(context.WithoutCancel(working), lastTime)
	}
	if err != nil {
		s.log.Error("the last visits were not written down", "visits", s.counter.Waiting(), "error", err)
	}
}

func (s *Service) write(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return s.counter.Write(ctx, s.store)
}

// each calls do until taking ends, an interval after the call before. Of errors in a
// row it logs the first.
func (s *Service) each(taking context.Context, interval time.Duration, trouble string, do func() error) {
	rest := time.NewTimer(interval)
	defer rest.Stop()
	failed := false
	for {
		select {
		case <-taking.Done():
			return
		case <-rest.C:
		}
		err := do()
		rest.Reset(interval)
		if err != nil && !failed && taking.Err() == nil {
			jobs.LogError(s.log, trouble, err)
		}
		failed = err != nil
	}
}
