package cache

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"linkwatch/models"
	"linkwatch/models/shortlinks"
)

const (
	redisPrefix  = "linkwatch:short:" // and the key: a stored entry as JSON
	redisChannel = "linkwatch:short"  // changes: "<version> <key>"
)

// Shared is the Redis that several instances share, behind the Memory of each. A
// miss in memory is looked up in Redis before the database, and a change of one
// instance invalidates the entry of every other one at once.
//
// Short links work without Redis. Once a command fails, no visit waits for Redis until
// Listen has connected again. Nothing depends on what Redis holds. An entry names the
// version up to which it has all changes, and each instance compares that with the
// changes that it knows.
type Shared struct {
	memory *Memory
	redis  *redis.Client
	rules  shortlinks.Rules
	log    *slog.Logger

	up                   atomic.Bool
	reason               atomic.Pointer[string] // why up is false; nil: not tried yet
	failure              chan error             // last failure, for Listen
	hits, misses, errors atomic.Int64
}

type redisEntry struct {
	shortlinks.Entry
	UpTo int64 `json:"up_to"` // cached.upTo
}

// NewShared adds a Redis cache to memory. Call it before memory is used. The client does
// not have to be connected; the caller closes it. opts are those of the store. Redis is
// not used until Listen runs.
func NewShared(memory *Memory, client *redis.Client, opts shortlinks.Options, log *slog.Logger) *Shared {
	memory.shared = &Shared{memory: memory, redis: client, rules: shortlinks.NewRules(opts), log: log, failure: make(chan error, 1)}
	return memory.shared
}

// Up reports whether Redis is in use.
func (s *Shared) Up() bool { return s.up.Load() }

// State reports whether Redis is in use. If it is not, reason says why, without a part of REDIS_URL.
func (s *Shared) State() (up bool, reason string) {
	if s.Up() {
		return true, ""
	}
	if r := s.reason.Load(); r != nil {
		return false, *r
	}
	return false, "Linkwatch has not connected to Redis yet."
}

// down stops using Redis because of an error, and returns the reason for operators.
func (s *Shared) down(err error) string {
	reason := models.RedisReason(s.redis, err)
	s.reason.Store(&reason)
	s.up.Store(false)
	return reason
}

// Hits returns the number of entries found in Redis since the start.
func (s *Shared) Hits() int64 { return s.hits.Load() }

// Misses returns the number of entries not found in Redis since the start.
func (s *Shared) Misses() int64 { return s.misses.Load() }

// Errors returns the number of Redis errors since the start, including failed connection
// attempts.
func (s *Shared) Errors() int64 { return s.errors.Load() }

// read reads entries from Redis into memory. It returns the misses that are not there.
func (s *Shared) read(ctx context.Context, batch []*miss, now time.Duration) (missing []*miss) {
	polled := s.memory.horizon.Load().polled
	if !s.Up() || now-polled >= shortlinks.MaxStale || len(batch) == 0 { // the entries would be too old
		return batch
	}
	for i, h := range s.get(ctx, batch) {
		h.asOf = polled
		if h.ttl > 0 && s.memory.put(batch[i].key, h) {
			batch[i].found = h
			s.hits.Add(1)
			continue
		}
		missing = append(missing, batch[i])
		s.misses.Add(1)
	}
	return missing
}

// get reads and validates entries from Redis, which may contain anything. An entry that is missing or not valid has
// the ttl 0.
func (s *Shared) get(ctx context.Context, batch []*miss) []cached {
	found, keys := make([]cached, len(batch)), make([]string, len(batch))
	for i, b := range batch {
		keys[i] = redisPrefix + b.key
	}
	var values *redis.SliceCmd // nil for a value of another type
	s.send(ctx, func(pipe redis.Pipeliner) { values = pipe.MGet(ctx, keys...) })
	left := make([]*redis.DurationCmd, len(batch))
	s.send(ctx, func(pipe redis.Pipeliner) {
		for i, value := range values.Val() {
			var e redisEntry
			if text, ok := value.(string); ok && json.Unmarshal([]byte(text), &e) == nil && s.rules.Valid(e.Entry) {
				found[i] = cached{Entry: e.Entry, upTo: max(e.UpTo, e.Version)}
				left[i] = pipe.PTTL(ctx, keys[i])
			}
		}
	})
	for i := range found {
		if left[i] != nil {
			found[i].ttl = max(left[i].Val(), 0)
		}
	}
	return found
}

// write writes entries to Redis, but not unknown keys: guessed keys must not fill Redis.
func (s *Shared) write(ctx context.Context, batch []*miss) {
	if !s.Up() {
		return
	}
	s.send(ctx, func(pipe redis.Pipeliner) {
		for _, b := range batch {
			if b.found.Reason != shortlinks.ReasonUnknown {
				set(ctx, pipe, b.key, b.found)
			}
		}
	})
}

// announce writes a changed entry to Redis and notifies the other instances.
func (s *Shared) announce(ctx context.Context, key string, h cached) {
	if s.Up() {
		s.send(ctx, func(pipe redis.Pipeliner) {
			set(ctx, pipe, key, h)
			pipe.Publish(ctx, redisChannel, strconv.FormatInt(h.upTo, 10)+" "+key)
		})
	}
}

// set adds the command that stores an entry. An entry that JSON cannot hold, with a year after 9999, is not stored: then
// Redis has none or an older one, which its version rules out.
func set(ctx context.Context, pipe redis.Pipeliner, key string, h cached) {
	if content, err := json.Marshal(redisEntry{h.Entry, h.upTo}); err == nil {
		pipe.Set(ctx, redisPrefix+key, content, max(h.ttl, time.Millisecond))
	}
}

// send sends commands in a pipeline; none are sent if there are none. A missing key or a wrong type is an error of its
// command, but not a failure of Redis.
func (s *Shared) send(ctx context.Context, commands func(redis.Pipeliner)) {
	// Without cancellation: a visitor who leaves is not a failure of Redis.
	sent, err := s.redis.Pipelined(context.WithoutCancel(ctx), func(pipe redis.Pipeliner) error {
		commands(pipe)
		return nil
	})
	if err == nil {
		return
	}
	for _, c := range sent {
		if err := c.Err(); err != nil && !errors.Is(err, redis.Nil) && !redis.HasErrorPrefix(err, "WRONGTYPE") {
			s.failed(err)
			return
		}
	}
}

// failed stops using Redis.
func (s *Shared) failed(err error) {
	s.down(err)
	select {
	case s.failure <- err:
	default: // Listen has not handled the last failure yet
	}
}
