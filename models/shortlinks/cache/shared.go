package cache

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"linkwatch/models/shortlinks"
)

const (
	redisPrefix  = "linkwatch:short:" // and the key: the Entry as JSON
	redisChannel = "linkwatch:short"  // Changes as JSON
	// refreshTime is how long Redis may take for refreshAtOnce changes.
	refreshTime = time.Second
)

// keepNewer sets a key unless a newer entry is there (Entry.Compare).
// ARGV: the entry, its TTL in ms, its Link, its Version, "XX" if there must be an older one.
var keepNewer = redis.NewScript(`
local held = redis.pcall('GET', KEYS[1])
if not held and ARGV[5] == 'XX' then return 0 end
if type(held) == 'string' then
	local ok, e = pcall(cjson.decode, held)
	if ok and type(e) == 'table' and type(e.link) == 'number' and type(e.version) == 'number' then
		local link, version = tonumber(ARGV[3]), tonumber(ARGV[4])
		if e.link > link or e.link == link and e.version > version then return 0 end
	end
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`)

// Shared is the shortlinks.Cache of several instances: each has a Memory in
// front, and all of them share one Redis. What one instance announces, the
// others receive at once.
//
// Short links work without Redis. Once a command fails, Redis is not asked until
// Listen has connected again, so that no visit waits for it. Entries from Redis
// are checked before they are used.
type Shared struct {
	memory *Memory
	redis  *redis.Client
	rules  shortlinks.Rules
	log    *slog.Logger

	state                atomic.Int32
	failure              chan error // the last one, for Listen
	hits, misses, errors atomic.Int64
}

// The states of Redis.
const (
	away       int32 = iota // nobody asks it
	catchingUp              // changes are written, nothing is read: it may hold what is out of date
	inUse
)

// NewShared makes the cache over a client of Redis, which need not answer. Both
// stay the caller's to close. opts are those of the store. Until Listen runs,
// memory is all there is.
func NewShared(memory *Memory, client *redis.Client, opts shortlinks.Options, log *slog.Logger) *Shared {
	return &Shared{memory: memory, redis: client, rules: shortlinks.NewRules(opts), log: log, failure: make(chan error, 1)}
}

// Up says whether Redis is in use.
func (s *Shared) Up() bool { return s.state.Load() == inUse }

// Hits is how many entries were found in Redis since the start.
func (s *Shared) Hits() int64 { return s.hits.Load() }

// Misses is how many entries Redis was asked for in vain since the start.
func (s *Shared) Misses() int64 { return s.misses.Load() }

// Errors is how often Redis failed since the start, or was still away when it
// was asked again.
func (s *Shared) Errors() int64 { return s.errors.Load() }

// Get implements shortlinks.Cache.
func (s *Shared) Get(ctx context.Context, key string, now time.Time) (e shortlinks.Entry, ok bool) {
	if e, ok = s.memory.Get(ctx, key, now); ok || !s.Up() {
		return e, ok
	}
	valid, ok := s.memory.currency.ofShared(now)
	if !ok {
		return shortlinks.Entry{}, false
	}
	e, ttl, ok := s.read(ctx, key)
	if !ok {
		s.misses.Add(1)
		return shortlinks.Entry{}, false
	}
	s.hits.Add(1)
	s.memory.put(strings.Clone(key), e, ttl, func() validity { // a cache that held a piece of the request would hold all of it
		if s.memory.currency.late(now) {
			return unproven
		}
		return valid
	})
	return s.memory.Peek(key, now) // it is as current as this process knows
}

// Peek implements shortlinks.Cache.
func (s *Shared) Peek(key string, now time.Time) (shortlinks.Entry, bool) {
	return s.memory.Peek(key, now)
}

// Put implements shortlinks.Cache. Only what is known to be current goes to Redis, and no
// unknown keys: guessing those must not fill it.
func (s *Shared) Put(ctx context.Context, key string, e shortlinks.Entry, ttl time.Duration, read time.Time) {
	s.memory.Put(ctx, key, e, ttl, read)
	if e.Reason == shortlinks.ReasonUnknown || read.IsZero() || s.memory.currency.late(read) {
		return
	}
	s.write(ctx, s.redis, func(pipe redis.Pipeliner) { keep(ctx, pipe, shortlinks.Change{Key: key, Entry: e, TTL: ttl}, "") })
}

// Announce implements shortlinks.Cache.
func (s *Shared) Announce(ctx context.Context, key string, e shortlinks.Entry, ttl time.Duration, began time.Time) {
	s.memory.Announce(ctx, key, e, ttl, began)
	change, only := shortlinks.Change{Key: key, Entry: e, TTL: ttl}, ""
	if s.memory.currency.late(began) { // there may be a newer change, which Redis has lost
		only = "XX"
	}
	s.write(ctx, s.redis, func(pipe redis.Pipeliner) {
		keep(ctx, pipe, change, only)
		pipe.Publish(ctx, redisChannel, encode(change))
	})
}

// Refresh implements shortlinks.Cache.
func (s *Shared) Refresh(ctx context.Context, changes []shortlinks.Change) {
	s.memory.Refresh(ctx, changes)
	if len(changes) == 0 {
		return
	}
	s.write(ctx, s.redis.WithTimeout(refreshTime), func(pipe redis.Pipeliner) {
		for _, c := range changes {
			keep(ctx, pipe, c, "XX")
		}
	})
}

// Looked implements shortlinks.Cache. Refresh has told Redis as well, or it is not in use.
func (s *Shared) Looked(began time.Time) { s.memory.Looked(began) }

func keep(ctx context.Context, pipe redis.Pipeliner, c shortlinks.Change, only string) {
	keepNewer.EvalSha(ctx, pipe, []string{redisPrefix + c.Key},
		encode(c.Entry), max(1, c.TTL.Milliseconds()), c.Entry.Link, c.Entry.Version, only)
}

// encode is v as JSON, which neither an Entry nor a Change can fail to be.
func encode(v any) string {
	content, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(content)
}

// write sends commands together, unless Redis is away.
func (s *Shared) write(ctx context.Context, client *redis.Client, commands func(redis.Pipeliner)) {
	if s.state.Load() == away {
		return
	}
	// Not with ctx: that a visitor has left says nothing about Redis.
	_, err := client.Pipelined(context.WithoutCancel(ctx), func(pipe redis.Pipeliner) error {
		commands(pipe)
		return nil
	})
	if err != nil {
		s.failed(err)
	}
}

// read is an entry out of Redis, and how long it may be kept.
func (s *Shared) read(ctx context.Context, key string) (e shortlinks.Entry, ttl time.Duration, ok bool) {
	var value *redis.StringCmd
	var left *redis.DurationCmd
	_, err := s.redis.Pipelined(context.WithoutCancel(ctx), func(pipe redis.Pipeliner) error {
		value, left = pipe.Get(ctx, redisPrefix+key), pipe.PTTL(ctx, redisPrefix+key)
		return nil
	})
	switch {
	case errors.Is(err, redis.Nil), redis.HasErrorPrefix(err, "WRONGTYPE"):
		return shortlinks.Entry{}, 0, false
	case err != nil:
		s.failed(err)
		return shortlinks.Entry{}, 0, false
	}
	if json.Unmarshal([]byte(value.Val()), &e) != nil || !s.rules.Sound(e) || left.Val() <= 0 {
		return shortlinks.Entry{}, 0, false
	}
	return e, left.Val(), true
}

// failed leaves Redis alone from now on.
func (s *Shared) failed(err error) {
	s.state.Store(away)
	select {
	case s.failure <- err:
	default: // Listen has one to look at
	}
}
