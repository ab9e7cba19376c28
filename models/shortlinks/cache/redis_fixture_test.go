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
	"linkwatch/models/shortlinks/cache"
)

// eachRedis runs a test in parallel with an in-process Redis and with that of TEST_REDIS_URL.
// Tests use random keys, because the real one is shared.
func eachRedis(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	t.Parallel()
	run := func(name string, url func(t *testing.T) string) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, url(t))
		})
	}
	run("miniredis", func(t *testing.T) string { return "redis://" + miniredis.RunT(t).Addr() })
	run("redis", func(t *testing.T) string {
		url := os.Getenv("TEST_REDIS_URL")
		if url == "" && os.Getenv("CI") == "true" {
			t.Fatal("TEST_REDIS_URL is not set, but CI=true requires a real Redis")
		}
		if url == "" {
			t.Skip("skipped without TEST_REDIS_URL")
		}
		return url
	})
}

// eachCache runs a test with each cache: without Redis, and with Redis in use.
func eachCache(t *testing.T, test func(t *testing.T, f fixture)) {
	t.Helper()
	eachRedis(t, func(t *testing.T, url string) { test(t, newFixture(t, modelstest.New(t)).sharing(url).inUse().fixture) })
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		test(t, newFixture(t, modelstest.New(t)).poll())
	})
}

// instance is an instance with Redis behind its cache.
type instance struct {
	fixture
	redis *redis.Client
	stop  func() // stops listening
}

// sharing returns another instance that listens until the test ends.
func (f fixture) sharing(url string) instance {
	f.Helper()
	client, err := models.OpenRedis(url)
	f.must(err)
	i := instance{fixture: f.another(), redis: client.WithTimeout(10 * time.Second)} // a busy machine must not count as a failure of Redis
	i.shared = cache.NewShared(i.cache, i.redis, f.opts, slog.New(slog.DiscardHandler))
	i.listen()
	f.Cleanup(func() {
		i.stop()
		_ = client.Close()
	})
	return i
}

// listen starts listening, also after stop.
func (i *instance) listen() {
	ctx, cancel := context.WithCancel(context.Background())
	var listening sync.WaitGroup
	listening.Go(func() { i.shared.Listen(ctx, i.Store) })
	i.stop = func() { cancel(); listening.Wait() }
}

// inUse waits until the instance uses Redis.
func (i instance) inUse() instance {
	i.Helper()
	modelstest.Eventually(i, "Redis connected", i.shared.Up)
	return i
}

// soon waits until a key has a destination.
func (i instance) soon(key, longURL string) {
	i.Helper()
	modelstest.Eventually(i, key+" redirects to "+longURL, func() bool { return i.visit(key) == longURL })
}
