// Package shortlinks does the work of short links that no redirect waits for:
// it writes visits down, and keeps the cache up to what other instances change.
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
	// writeInterval is how often visits are written down.
	writeInterval = time.Second
	// syncInterval is the time between two looks at what other instances changed.
	// The cache is current if a look follows the one before within
	// shortlinks.MaxStale; so there is as much time again for the look itself.
	syncInterval = time.Second
	// storeTime is for writing visits down.
	storeTime = 10 * time.Second
	// syncTime is for reading changes: a million short links that were imported
	// within seconds take a third of it.
	syncTime = time.Minute
	// lastTime is for writing the last visits down when the program's grace has
	// ended, of which a tenth is left for that.
	lastTime = 300 * time.Millisecond
)

// Service does the work for one store. It is to be stopped when no redirect can
// come any more, so that the last visits are written down too.
type Service struct {
	*jobs.Background
	store   *shortlinks.Store
	counter *visits.Counter
	changes *cache.Sync
	shared  *cache.Shared
	log     *slog.Logger
}

// NewService makes the service of a store, of the counter that it has, and of its cache:
// memory alone, or shared, which has memory in front; shared is nil without
// Redis. It fails if reg has metrics of these names.
func NewService(store *shortlinks.Store, counter *visits.Counter, memory *cache.Memory, shared *cache.Shared,
	log *slog.Logger, reg prometheus.Registerer,
) (*Service, error) {
	if err := register(reg, store, counter, memory, shared); err != nil {
		return nil, err
	}
	var whole shortlinks.Cache = memory
	if shared != nil {
		whole = shared
	}
	s := &Service{store: store, counter: counter, changes: cache.NewSync(store, whole), shared: shared, log: log}
	s.Background = jobs.NewBackground(s.run)
	return s, nil
}

func (s *Service) run(taking, working context.Context) {
	var others sync.WaitGroup
	others.Go(func() { s.counter.Gather(taking) })
	others.Go(func() { s.sync(taking) })
	if s.shared != nil {
		others.Go(func() { s.shared.Listen(taking, s.store) })
	}
	s.each(taking, writeInterval, "visits are not written down", func() error { return s.write(working, storeTime) })
	others.Wait() // all is gathered
	err := s.write(working, storeTime)
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

// sync looks for changes until taking ends.
func (s *Service) sync(taking context.Context) {
	s.each(taking, syncInterval, "changes of short links by other instances are not seen", func() error {
		ctx, cancel := context.WithTimeout(taking, syncTime)
		defer cancel()
		return s.changes.Look(ctx)
	})
}

// each does something again and again until taking ends, and rests for an
// interval in between. Of errors in a row the first is logged.
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
