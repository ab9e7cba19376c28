package cache_test

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
	"linkwatch/models/shortlinks/cache"
	"linkwatch/models/shortlinks/visits"
)

// eachRedis runs a test over a Redis in this process, and over a real one where
// TEST_REDIS_URL names it. Keys are to be random: the real one may be shared.
func eachRedis(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	t.Run("miniredis", func(t *testing.T) { test(t, "redis://"+miniredis.RunT(t).Addr()) })
	if url := os.Getenv("TEST_REDIS_URL"); url != "" {
		t.Run("redis", func(t *testing.T) { test(t, url) })
	} else if os.Getenv("CI") == "true" {
		t.Error("TEST_REDIS_URL is not set: with CI=true the suite runs over a real Redis too")
	}
}

// eachCache runs a test over every Cache, in use. cold makes another one that
// has nothing in its memory; it is nil where that is all there is.
func eachCache(t *testing.T, test func(t *testing.T, c shortlinks.Cache, cold func() shortlinks.Cache)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) {
		c := cache.NewMemory(1000, start)
		defer c.Close()
		test(t, c, nil)
	})
	eachRedis(t, func(t *testing.T, url string) {
		f := newFixture(t, modelstest.New(t))
		test(t, f.sharing(url).inUse().cache, func() shortlinks.Cache { return f.sharing(url).inUse().cache })
	})
}

// instance is an instance of the program whose cache is shared through Redis.
type instance struct {
	fixture
	memory *cache.Memory
	cache  *cache.Shared
	redis  *redis.Client
	deafen func() // ends its listening
}

// sharing is another instance, which listens until the test ends.
func (f fixture) sharing(url string) instance {
	f.Helper()
	client, err := models.OpenRedis(url)
	f.must(err)
	// A machine that is busy testing is no Redis that is away.
	i := instance{fixture: f, memory: cache.NewMemory(1000, f.clock.Now), redis: client.WithTimeout(10 * time.Second)}
	i.cache = cache.NewShared(i.memory, i.redis, f.opts, slog.New(slog.DiscardHandler))
	i.Store = shortlinks.NewStore(f.db, f.clock.Now, i.cache, visits.New(), f.opts)
	ctx, cancel := context.WithCancel(context.Background())
	var listening sync.WaitGroup
	listening.Go(func() { i.cache.Listen(ctx, i.Store) })
	i.deafen = func() { cancel(); listening.Wait() }
	f.Cleanup(func() {
		i.deafen()
		_ = client.Close()
		i.memory.Close()
	})
	return i
}

// inUse waits until the instance uses Redis.
func (i instance) inUse() instance {
	i.Helper()
	i.eventually("Redis is in use", i.cache.Up)
	return i
}

// held is the address in the memory of the instance.
func (i instance) held(key string) string {
	e, _ := i.memory.Peek(key, i.clock.Now())
	return e.LongURL
}

// eventually waits for what another goroutine does.
func (f fixture) eventually(what string, is func() bool) {
	f.Helper()
	for limit := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			f.Fatal("it never came to this: " + what)
		}
	}
}
