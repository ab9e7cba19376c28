package cache

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"linkwatch/models/shortlinks"
)

// probeInterval is the interval of pings and of reconnects.
const probeInterval = time.Second

// Listen connects to Redis, reconnects after failures, and handles the changes that other
// instances announce, until ctx ends. store must use this cache.
func (s *Shared) Listen(ctx context.Context, store *shortlinks.Store) {
	probe := time.NewTicker(probeInterval)
	defer probe.Stop()
	for logged := ""; ; {
		used, err := s.session(ctx, store, probe.C)
		if ctx.Err() != nil {
			s.up.Store(false)
			return
		}
		s.errors.Add(1)
		if reason := s.down(err); used || reason != logged {
			logged = reason
			s.log.Warn("Redis unavailable, serving short links without it", "reason", reason, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-probe.C:
		}
	}
}

// session uses Redis until it fails. used reports whether the connection succeeded.
func (s *Shared) session(ctx context.Context, store *shortlinks.Store, probe <-chan time.Time) (used bool, err error) {
	sub := s.redis.Subscribe(ctx)
	ended, wait := make(chan error, 1), sync.WaitGroup{}
	defer wait.Wait()
	defer func() { _ = sub.Close() }() // ends receive
	if err := subscribe(ctx, sub); err != nil {
		return false, fmt.Errorf("subscribe: %w", err)
	}
	wait.Go(func() { ended <- s.receive(ctx, sub) })
	// From here on changes are received. Poll finds those announced before.
	if err := s.memory.Poll(ctx, store); err != nil {
		return false, err
	}
	select {
	case err := <-s.failure: // from an earlier session
		s.log.Debug("earlier Redis failure", "error", err)
	default:
	}
	s.up.Store(true)
	s.log.Info("Redis connected")
	for {
		select {
		case <-ctx.Done():
			return true, ctx.Err()
		case err := <-s.failure:
			return true, err
		case err := <-ended:
			return true, fmt.Errorf("receive changes: %w", err)
		case <-probe:
			if err := errors.Join(s.redis.Ping(ctx).Err(), sub.Ping(ctx)); err != nil {
				return true, fmt.Errorf("ping: %w", err)
			}
		}
	}
}

// subscribe subscribes and waits for the confirmation.
func subscribe(ctx context.Context, sub *redis.PubSub) error {
	if err := sub.Subscribe(ctx, redisChannel); err != nil {
		return err
	}
	_, err := sub.ReceiveTimeout(ctx, probeInterval)
	return err
}

// receive handles announced changes until the subscription ends.
func (s *Shared) receive(ctx context.Context, sub *redis.PubSub) error {
	for {
		message, err := sub.ReceiveMessage(ctx)
		if err != nil {
			return err
		}
		number, key, _ := strings.Cut(message.Payload, " ")
		if version, err := strconv.ParseInt(number, 10, 64); err == nil && shortlinks.IsKey(key) {
			s.memory.invalidate(key, version)
		}
	}
}
