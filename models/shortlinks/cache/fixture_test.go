package cache_test

import (
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
	"linkwatch/models/shortlinks/cache"
	"linkwatch/models/shortlinks/visits"
)

// fixture is a store over a fresh database and a cache of its own.
type fixture struct {
	*shortlinks.Store
	testing.TB
	db    *models.DB
	clock *modelstest.Clock
	cache *cache.Memory
	opts  shortlinks.Options
}

func each(t *testing.T, test func(f fixture)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) { test(newFixture(t, db)) })
}

// start is the time that the clock of a fixture begins with.
func start() time.Time { return modelstest.NewClock().Now() }

func newFixture(t testing.TB, db *models.DB) fixture {
	f := fixture{TB: t, db: db, clock: modelstest.NewClock(), opts: shortlinks.Options{
		TombstoneTTL: time.Hour, BufferTime: time.Hour, BlockedHosts: []string{"spam.example"},
		Own: []string{"links.example"}, ShortHost: "lw.example",
	}}
	return f.another()
}

// another is another instance of the program: the same database and clock, a
// cache of its own.
func (f fixture) another() fixture {
	f.cache = cache.NewMemory(1000, f.clock.Now)
	f.Cleanup(f.cache.Close)
	f.Store = shortlinks.NewStore(f.db, f.clock.Now, f.cache, visits.New(), f.opts)
	return f
}

func (f fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// add makes a short link to https://example.com/page.
func (f fixture) add(change ...func(*shortlinks.New)) shortlinks.ShortLink {
	f.Helper()
	n := shortlinks.New{LongURL: "https://example.com/page"}
	for _, do := range change {
		do(&n)
	}
	l, created, err := f.Add(f.Context(), n)
	f.must(err)
	if !created {
		f.Fatal("it was there already")
	}
	return l
}

func key(k string) func(*shortlinks.New) { return func(n *shortlinks.New) { n.Key = k } }

func ttl(d time.Duration) func(*shortlinks.New) { return func(n *shortlinks.New) { n.TTL = d } }

func limit(visits int64) func(*shortlinks.New) {
	return func(n *shortlinks.New) { n.MaxVisits = visits }
}

// visit is where a key leads: "gone" or "unknown" if nowhere.
func (f fixture) visit(key string) string {
	f.Helper()
	to, err := f.Visit(f.Context(), key, shortlinks.Visitor{})
	switch models.CodeOf(err) {
	case models.CodeGone:
		return "gone"
	case models.CodeNotFound:
		return "unknown"
	}
	f.must(err)
	return to
}

func (f fixture) leads(key, want string) {
	f.Helper()
	if got := f.visit(key); got != want {
		f.Errorf("%s leads to %q, want %q", key, got, want)
	}
}

func ptr[T any](v T) *T { return &v }
