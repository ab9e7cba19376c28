//go:build e2e

package bench

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/e2e"
	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
	"linkwatch/models/targets"
)

const (
	overviewLinks   = 100_000
	overviewTargets = 1_000
	overviewJobs    = 10_000
	overviewShort   = 100_000
	overviewPages   = 20_000
)

// TestOverviewFigures measures the overview and the global search on a database with many items, some of which need
// attention. It asserts no times.
func TestOverviewFigures(t *testing.T) {
	if !*figures {
		t.Skip("skipped without -figures (task bench)")
	}
	t.Run("sqlite", func(t *testing.T) { overviewFigures(t, "SQLite", filepath.Join(t.TempDir(), "overview.db")) })
	if os.Getenv("TEST_POSTGRES_URL") != "" {
		t.Run("postgres", func(t *testing.T) { overviewFigures(t, "PostgreSQL", modelstest.NewPostgres(t)) })
	}
}

func overviewFigures(t *testing.T, engine, store string) {
	c := newCorpus()
	fillPages(t, store, overviewPages)
	c.fillAll(t, store)
	s := e2e.Start(t, "DATABASE_URL="+store, "CRAWLER_POLL_INTERVAL=1h", "LINK_CHECK_INTERVAL=720h")
	defer s.Stop()
	untilReady(t, s)
	table("%d links, %d targets, %d crawl jobs, %d short links, %d crawled pages, %s", overviewLinks, overviewTargets, overviewJobs, overviewShort, overviewPages, engine)
	measurePath(t, s, "page /", "≤ 50 ms", "/")
	for _, q := range []struct {
		name  string
		query func() string
	}{
		{"a word", c.word}, {"a part of a word", c.part}, {"one or two characters", c.short}, {"a phrase", c.phrase}, {"a misspelled word", c.misspelled},
		{"a word in half of the titles", fixed("common")}, {"a word in every URL", fixed("example")}, {"a URL", func() string { return c.first[c.rnd.IntN(overviewLinks)].URL }},
		{"a word of crawled pages", fixed(vocabulary[20])}, {"the key of an old short link", fixed("s0000017")}, {"nothing matches", fixed("qqqqqq")},
	} {
		measure(t, "/search: "+q.name, "", func() string { return s.URL + "/search?q=" + url.QueryEscape(q.query()) })
	}
	measurePath(t, s, "/search without a query", "", "/search")
	row("memory at most", "", "%d MB", s.PeakMemory()>>20)
}

// fillAll fills a database with links, targets, jobs and short links, and makes some of them need attention.
func (c *corpus) fillAll(t *testing.T, store string) {
	t.Helper()
	db, closeDB := e2e.OpenDatabase(t, store)
	defer closeDB()
	c.first = c.links(0, overviewLinks)
	if n, err := links.NewStore(db, nil, nil, links.Options{CheckInterval: 30 * models.Day}).Import(t.Context(), c.first); err != nil || n != overviewLinks {
		t.Fatalf("got %d links stored, %v", n, err)
	}
	watched := targets.NewStore(db, time.Now, targets.Options{CheckInterval: time.Hour, Retention: models.Day})
	for i := range overviewTargets {
		if _, _, err := watched.Add(t.Context(), targets.New{URL: fmt.Sprintf("https://%s-%d.example/", c.word(), i), Name: c.word()}); err != nil {
			t.Fatal(err)
		}
	}
	now := models.At(time.Now())
	sources := models.NewRows("seq bigint, id text, name text, url text, host text, at bigint")
	jobs := models.NewRows("id text, source_seq bigint, url text, status text, error text, at bigint")
	var short []shortlinks.ShortLink
	for i := range overviewJobs {
		host := fmt.Sprintf("%s-%d.example", c.word(), i)
		sources.Add(1_000+i, models.NewID(models.KindSource), c.word(), "https://"+host+"/", host, now)
		status, fault := crawl.Completed, ""
		if i%50 == 0 {
			status, fault = crawl.Failed, "timed out"
		}
		jobs.Add(models.NewID(models.KindJob), 1_000+i, "https://"+host+"/", status, fault, now.Add(time.Duration(i)*time.Microsecond))
	}
	for i := range overviewShort {
		u := fmt.Sprintf("https://%s.example.com/%s/%d", c.word(), c.word(), i)
		k := fmt.Sprintf("s%07d", i)
		short = append(short, shortlinks.ShortLink{Key: k, LongURL: u, CanonicalURL: u, SearchText: k + " " + u, CreatedAt: now.Add(time.Duration(i) * time.Microsecond), UpdatedAt: now})
	}
	write := func(do func(tx *gorm.DB) error) {
		t.Helper()
		if err := db.Write(t.Context(), do); err != nil {
			t.Fatal(err)
		}
	}
	write(func(tx *gorm.DB) error {
		return sources.Exec(tx, `INSERT INTO sources (seq, id, external_id, name, url, host, search_text, enabled, max_depth, allowed_domains, rate_limit_ms,
				interval_count, interval_type, created_at, updated_at)
			SELECT seq, id, '', name, url, host, name || ' ' || host, true, 0, '', 1000, 0, 'days', at, at FROM {rows} AS r`).Error
	})
	write(func(tx *gorm.DB) error {
		return jobs.Exec(tx, `INSERT INTO jobs (id, source_seq, url, status, interval_count, interval_type, interval_seconds, adaptive_scheduling, source_disabled, max_retries,
				retry_backoff_seconds, current_retry_count, metadata, executions, content_hash, unchanged_count, last_error, created_at, updated_at)
			SELECT id, source_seq, url, status, 0, 'days', 0, false, false, 3, 60, 0, '{}', 1, '', 0, error, at, at FROM {rows} AS r`).Error
	})
	for at := 0; at < len(short); at += 5_000 {
		write(func(tx *gorm.DB) error { return models.Insert(tx, short[at:at+5_000]) })
	}
	for _, sql := range []string{
		"UPDATE links SET health = 'ok', health_changed_at = created_at",
		"UPDATE links SET health = 'dead', health_changed_at = created_at WHERE seq % 100 = 1",
		"UPDATE links SET health = 'suspect', health_changed_at = created_at WHERE seq % 50 = 2",
		"UPDATE links SET health = 'moved', health_changed_at = created_at WHERE seq % 50 = 3",
		"UPDATE targets SET state = 'down', state_since = created_at, last_error = 'timed out' WHERE seq % 10 = 1",
	} {
		modelstest.Exec(t, db, sql)
	}
	modelstest.Exec(t, db, "UPDATE targets SET tls_expires_at = ? WHERE seq % 20 = 2", now.Add(3*models.Day))
	if db.Engine == models.Postgres { // autovacuum does this within minutes in production
		if err := db.Read(t.Context()).Exec("VACUUM ANALYZE").Error; err != nil {
			t.Fatal(err)
		}
	}
}
