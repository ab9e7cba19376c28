package shortlinks_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
	"linkwatch/models/shortlinks/cache"
	"linkwatch/models/shortlinks/visits"
)

const day = models.Day

// fixture is a store with an empty database and its own cache.
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
		TombstoneTTL: time.Hour, BufferTime: time.Hour, KeepExpired: 400 * day, BlockedHosts: []string{"spam.example"},
		Own: []string{"links.example"}, ShortHost: "lw.example",
	}}
	return f.another()
}

// another returns another instance with the same database and clock, and its own cache and
// counter.
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

// wantError checks the code of an error, and its location for invalid input.
func (f fixture) wantError(err error, code models.Code, location string) {
	f.Helper()
	e, ok := errors.AsType[*models.Error](err)
	if !ok || e.Code != code || location != "" && (len(e.Fields) != 1 || e.Fields[0].Location != location) {
		f.Errorf("got %v, want %s %s", err, code, location)
	}
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

func limit(visits int64) func(*shortlinks.New) {
	return func(n *shortlinks.New) { n.MaxVisits = visits }
}

func (f fixture) get(key string) shortlinks.ShortLink {
	f.Helper()
	l, err := f.Get(f.Context(), key)
	f.must(err)
	return l
}

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
	return f.write(func(tx *gorm.DB) (int64, error) { return f.ReapExpired(tx, limit) })
}

func (f fixture) reapArchived(limit int) int64 {
	f.Helper()
	return f.write(func(tx *gorm.DB) (int64, error) { return f.ReapArchived(tx, limit) })
}

func (f fixture) edit(key string, e shortlinks.Edit) error {
	_, err := f.Edit(f.Context(), key, e)
	return err
}

// addMany adds short links k-000000 … without the store, which is faster. set has further
// columns: "expires_at = 1".
func (f fixture) addMany(n int, set string) {
	f.Helper()
	now := f.Now()
	f.must(f.db.Write(context.Background(), func(tx *gorm.DB) error {
		links := make([]shortlinks.ShortLink, n)
		for i := range links {
			links[i] = shortlinks.ShortLink{
				Key: fmt.Sprintf("k-%06d", i), LongURL: "https://example.com/page", CanonicalURL: "https://example.com/page",
				CreatedAt: now, UpdatedAt: now,
			}
		}
		if err := models.Insert(tx, links); err != nil || set == "" {
			return err
		}
		return tx.Exec("UPDATE short_links SET " + set).Error
	}))
}

// count stores all pending visits.
func (f fixture) count() {
	f.Helper()
	over, cancel := context.WithCancel(context.Background())
	cancel()
	f.counter.Aggregate(over)
	f.must(f.counter.Write(context.Background(), f.Store))
}

const (
	phone   = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1"
	laptop  = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"
	chat    = "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"
	crawler = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
)

func (f fixture) visitAs(key, referrer, userAgent string) {
	f.Helper()
	_, err := f.Visit(f.Context(), key, shortlinks.Visitor{Referrer: referrer, UserAgent: userAgent})
	f.must(err)
}
