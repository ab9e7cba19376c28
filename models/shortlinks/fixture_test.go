package shortlinks_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
	"linkwatch/models/shortlinks/cache"
	"linkwatch/models/shortlinks/visits"
)

const day = 24 * time.Hour

// fixture is a store over a fresh database and a cache of its own.
type fixture struct {
	*shortlinks.Store
	testing.TB
	db      *models.DB
	clock   *modelstest.Clock
	cache   *cache.Memory
	counter *visits.Counter
	opts    shortlinks.Options
}

func each(t *testing.T, test func(f fixture)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) { test(newFixture(t, db)) })
}

func newFixture(t testing.TB, db *models.DB) fixture {
	f := fixture{TB: t, db: db, clock: modelstest.NewClock(), opts: shortlinks.Options{
		TombstoneTTL: time.Hour, BufferTime: time.Hour, BlockedHosts: []string{"spam.example"},
		Own: []string{"links.example"}, ShortHost: "lw.example",
	}}
	return f.another()
}

// another is another instance of the program: the same database and clock, a
// cache and a counter of its own.
func (f fixture) another() fixture {
	f.cache = cache.NewMemory(1000, f.clock.Now)
	f.Cleanup(f.cache.Close)
	f.counter = visits.New()
	f.Store = shortlinks.NewStore(f.db, f.clock.Now, f.cache, f.counter, f.opts)
	return f
}

func (f fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// is checks the code of an error, and for invalid input the member it names.
func (f fixture) is(err error, code models.Code, location string) {
	f.Helper()
	e, ok := errors.AsType[*models.Error](err)
	if !ok || e.Code != code || location != "" && (len(e.Fields) != 1 || e.Fields[0].Location != location) {
		f.Errorf("got %v, want %s %s", err, code, location)
	}
}

// add makes a short link to https://example.com/page.
func (f fixture) add(change ...func(*shortlinks.New)) shortlinks.ShortLink {
	f.Helper()
	n := shortlinks.New{LongURL: "https://example.com/page"}
	for _, do := range change {
		do(&n)
	}
	l, created, err := f.Create(f.Context(), n)
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

func (f fixture) get(key string) shortlinks.ShortLink {
	f.Helper()
	l, err := f.Get(f.Context(), key)
	f.must(err)
	return l
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

func (f fixture) write(do func(tx *gorm.DB) (int64, error)) (n int64) {
	f.Helper()
	f.must(f.db.Write(context.Background(), func(tx *gorm.DB) (err error) {
		n, err = do(tx)
		return err
	}))
	return n
}

func (f fixture) reap(limit int) int64 {
	f.Helper()
	return f.write(func(tx *gorm.DB) (int64, error) { return f.Reap(tx, limit) })
}

func ptr[T any](v T) *T { return &v }
