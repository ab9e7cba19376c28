package cache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"linkwatch/models"
	"linkwatch/models/shortlinks"
)

// probeInterval is how often Redis is asked whether it answers.
const probeInterval = time.Second

// Listen takes Redis into use, and again whenever it comes back, and takes in
// what other instances announce, until ctx ends. store is the one that
// uses this cache.
func (s *Shared) Listen(ctx context.Context, store *shortlinks.Store) {
	probe := time.NewTicker(probeInterval)
	defer probe.Stop()
	for told := false; ; {
		used, err := s.session(ctx, store, probe.C)
		s.state.Store(away)
		if ctx.Err() != nil {
			return
		}
		s.errors.Add(1)
		if used || !told {
			told = true
			s.log.Warn("Redis is away; short links are served without it", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-probe.C:
		}
	}
}

// session uses Redis until it fails. used says whether it came to that.
func (s *Shared) session(ctx context.Context, store *shortlinks.Store, probe <-chan time.Time) (used bool, err error) {
	if err := keepNewer.Load(ctx, s.redis).Err(); err != nil {
		return false, fmt.Errorf("loading the script: %w", err)
	}
	sub := s.redis.Subscribe(ctx)
	deaf, wait := make(chan error, 1), sync.WaitGroup{}
	defer wait.Wait()
	defer func() { _ = sub.Close() }() // which ends hear
	if err := s.subscribe(ctx, sub); err != nil {
		return false, fmt.Errorf("subscribing: %w", err)
	}
	wait.Go(func() { deaf <- s.hear(ctx, sub) })
	select {
	case err := <-s.failure: // of the time before
		s.log.Debug("Redis had failed", "error", err)
	default:
	}

	// From here on changes are written to Redis. Those that were not are caught up with before anything is read.
	s.state.Store(catchingUp)
	if err := s.catchUp(ctx, store); err != nil {
		return false, err
	}
	if !s.state.CompareAndSwap(catchingUp, inUse) {
		return false, <-s.failure
	}
	s.log.Info("Redis is in use")
	for {
		select {
		case <-ctx.Done():
			return true, ctx.Err()
		case err := <-s.failure:
			return true, err
		case err := <-deaf:
			return true, fmt.Errorf("listening: %w", err)
		case <-probe:
			if err := errors.Join(s.redis.Ping(ctx).Err(), sub.Ping(ctx)); err != nil {
				return true, fmt.Errorf("asking whether it answers: %w", err)
			}
		}
	}
}

// subscribe returns when Redis has confirmed it: from then on nothing is missed.
func (s *Shared) subscribe(ctx context.Context, sub *redis.PubSub) error {
	if err := sub.Subscribe(ctx, redisChannel); err != nil {
		return err
	}
	_, err := sub.ReceiveTimeout(ctx, probeInterval)
	return err
}

// hear takes in what is announced until the subscription ends.
func (s *Shared) hear(ctx context.Context, sub *redis.PubSub) error {
	for {
		m, err := sub.ReceiveMessage(ctx)
		if err != nil {
			return err
		}
		var c shortlinks.Change
		if json.Unmarshal([]byte(m.Payload), &c) == nil && shortlinks.IsKey(c.Key) && s.rules.Sound(c.Entry) && c.TTL > 0 {
			s.memory.Put(ctx, c.Key, c.Entry, c.TTL, time.Time{}) // it may have been on its way for long
		}
	}
}

// catchUp tells Redis of all that changed as long ago as it can remember.
func (s *Shared) catchUp(ctx context.Context, store *shortlinks.Store) error {
	began := store.Instant()
	since := models.At(began).Add(-store.Options().MaxEntryTTL() - lookBack)
	if err := refresh(ctx, store, s, since); err != nil {
		return fmt.Errorf("catching up: %w", err)
	}
	s.Looked(began)
	return nil
}
