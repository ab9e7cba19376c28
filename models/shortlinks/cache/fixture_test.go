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

// On a busy machine a test can be stopped for seconds. Tests of the timeout set their own.
func init() { shortlinks.LoadTimeout = time.Minute }

// fixture is a store with an empty database and its own cache.
type fixture struct {
	*shortlinks.Store
	testing.TB
	db     *models.DB
	clock  *modelstest.Clock
	cache  *cache.Memory
	shared *cache.Shared // nil without Redis
	opts   shortlinks.Options
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

// another returns another instance with the same database and clock, its own cache, and no
// Redis.
func (f fixture) another() fixture {
	f.cache, f.shared = cache.NewMemory(1000, f.clock.Now), nil
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

// poll polls for changes, as the service does every second.
func (f fixture) poll() fixture {
	f.Helper()
	f.must(f.cache.Poll(f.Context(), f.Store))
	return f
}

// add adds a short link to https://example.com/page.
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

// visit returns the destination of a key, "gone" or "unknown".
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

func (f fixture) redirectsTo(key, want string) {
	f.Helper()
	if got := f.visit(key); got != want {
		f.Errorf("%s: got %q, want %q", key, got, want)
	}
}

func (f fixture) move(key, longURL string) {
	f.Helper()
	_, err := f.Edit(f.Context(), key, shortlinks.Edit{LongURL: &longURL})
	f.must(err)
}

// addMany adds short links in one transaction, without the store.
func (f fixture) addMany(n int) {
	f.Helper()
	modelstest.Exec(f, f.db, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO short_links (short_key, long_url, canonical_url, title, search_text, max_visits, disabled, created_at, updated_at, version, visits, bots)
		SELECT 'many-' || (newest + i), 'https://example.com/page', 'https://example.com/page', '', '', 0, false, 0, 0, newest + i, 0, 0
		FROM n, short_link_version`, n)
	modelstest.Exec(f, f.db, "UPDATE short_link_version SET newest = newest + ?", n)
}
