package shortlinks_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"linkwatch/app/apptest"

	"github.com/alicebob/miniredis/v2"

	"linkwatch/handlers"
	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
	"linkwatch/models/shortlinks/cache"
)

// eachCache runs a test of redirects on each engine, with the cache in this
// process and with the one that instances share. another is one more instance of the
// program over the same database, and the same Redis if there is one.
func eachCache(t *testing.T, test func(s *apptest.Server, another func() *apptest.Server)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		t.Run("memory", func(t *testing.T) {
			test(apptest.NewServer(t, apptest.On(db)), func() *apptest.Server { return apptest.NewServer(t, apptest.On(db)) })
		})
	})
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		t.Run("redis", func(t *testing.T) {
			url := "redis://" + miniredis.RunT(t).Addr()
			test(newSharing(t, db, url), func() *apptest.Server { return newSharing(t, db, url) })
		})
	})
}

// newSharing is a server whose cache is shared through Redis, in use.
func newSharing(t *testing.T, db *models.DB, url string) *apptest.Server {
	t.Helper()
	client, err := models.OpenRedis(url)
	if err != nil {
		t.Fatal(err)
	}
	client = client.WithTimeout(10 * time.Second) // a machine that is busy testing is no Redis that is away
	clock := modelstest.NewClock()
	memory := cache.NewMemory(1000, clock.Now)
	opts := shortlinks.Options{TombstoneTTL: time.Hour, BufferTime: time.Hour}
	cache := cache.NewShared(memory, client, opts, slog.New(slog.DiscardHandler))
	store := shortlinks.NewStore(db, clock.Now, cache, opts)
	s := newServerOn(t, db, func(d *handlers.Deps) { d.ShortLinks = store })
	s.ShortLinks, s.Clock, s.sharing = store, clock, true

	ctx, cancel := context.WithCancel(context.Background())
	var listening sync.WaitGroup
	listening.Go(func() { cache.Listen(ctx, store) })
	t.Cleanup(func() {
		cancel()
		listening.Wait()
		_ = client.Close()
		memory.Close()
	})
	s.Eventually("Redis is in use", cache.Up)
	return s
}

// onlyReads fails unless do sends one statement, which only reads; where Redis is
// shared another instance may have saved that too.
func onlyReads(s *apptest.Server, what string, do func()) {
	s.Helper()
	sent := s.Sends(do)
	if len(sent) == 0 && s.sharing || len(sent) == 1 && strings.HasPrefix(sent[0], "SELECT ") {
		return
	}
	s.Errorf("%s sends %q, want one SELECT", what, sent)
}
