//go:build e2e

package bench

import (
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"linkwatch/e2e"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
)

const (
	figureLinks = 1_000_000
	figureFirst = 100_000 // links of the first rate, and of the plain INSERT
	figureTags  = 5_000
	figureWords = 20_000
)

// TestLinkFigures measures the real binary over HTTP on a database with a million links. It asserts no times. Compare a
// result only with the baseline of the same run.
func TestLinkFigures(t *testing.T) {
	if !*figures {
		t.Skip("skipped without -figures (task bench)")
	}
	t.Run("sqlite", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "figures.db")
		c := linkFigures(t, "SQLite", file)
		row("baseline: plain INSERT of id, URL and title", "", "%.0f rows/s", c.plain(t))
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		row("database file", "", "%.0f MB", float64(info.Size())/1e6)
		scans := c.scans(t, file)
		quantiles("baseline: LIKE scan, one word", "", scans(c.word))
		quantiles("baseline: LIKE scan, phrase", "", scans(c.phrase))
	})
	if os.Getenv("TEST_POSTGRES_URL") != "" {
		t.Run("postgres", func(t *testing.T) { linkFigures(t, "PostgreSQL", modelstest.NewPostgres(t)) })
	}
}

func linkFigures(t *testing.T, engine, store string) *corpus {
	t.Helper()
	c := newCorpus()
	first, all := c.store(t, store)
	table("%d links, %d tags, %s", figureLinks, figureTags, engine)
	row("store 100,000 links in bulk, without fetching", "≥ 15,000 links/s", "%.0f links/s", first)
	row("store 1,000,000 links in bulk", "", "%.0f links/s", all)

	started := time.Now()
	s := e2e.Start(t, "DATABASE_URL="+store)
	defer s.Stop()
	untilReady(t, s)
	row("time to ready after start", "≤ 0.5 s", "%.0f ms", time.Since(started).Seconds()*1000)
	time.Sleep(5 * time.Second) // until the garbage of the startup has been collected
	row("memory, idle", "≤ 60 MB", "%.0f MB", float64(s.Memory())/1e6)

	baseline := baselineServer(t)
	search := func(query func() string) func() string {
		return func() string { return s.URL + "/v1/search?q=" + url.QueryEscape(query()) }
	}
	measure(t, "baseline: bare net/http response of the same size", "", fixed(baseline))
	measurePath(t, s, "GET /v1/links", "≤ 50 ms", "/v1/links")
	measurePath(t, s, "GET /v1/links?page=10000", "≤ 50 ms", "/v1/links?page=10000")
	measurePath(t, s, "GET /v1/popular", "≤ 50 ms", "/v1/popular")
	measurePath(t, s, "page /links", "≤ 50 ms", "/links")
	measurePath(t, s, "page /tags", "≤ 50 ms", "/tags")
	measure(t, "tag completion", "≤ 50 ms", func() string { return s.URL + "/links/tags?prefix=" + c.tag()[:4] })
	for _, q := range []struct {
		name  string
		query func() string
	}{
		{"one word", c.word},
		{"part of a word", c.part},
		{"one or two characters", c.short},
		{"phrase", c.phrase},
		{"`tag:`", func() string { return "tag:" + c.tag() }},
		{"`tag:` with three tags", func() string { return "tag:" + c.tag() + " " + c.tag() + " " + c.tag() }},
		{"part of a tag", func() string { return "tag:" + c.part() }},
		{"words, `tag:` and `url:`", c.mixed},
		{"words, `tag:` and `url:`, no match", func() string { return c.word() + " tag:" + c.tag() + " url:example" }},
		{"a word in half of the titles", fixed("common")},
		{"a word in every URL", fixed("example")},
		{"a misspelled word", c.misspelled},
		{"a word that no link has", fixed("qxqxqx")},
	} {
		measure(t, "search: "+q.name, "≤ 50 ms", search(q.query))
	}
	row("memory after this benchmark", "", "%.0f MB", float64(s.Memory())/1e6)
	return c
}

// store fills a new database and returns the number of links stored per second, of the first ones and of all.
func (c *corpus) store(t *testing.T, store string) (first, all float64) {
	t.Helper()
	db, closeDB := e2e.OpenDatabase(t, store)
	defer closeDB()
	links := links.NewStore(db, nil, nil, links.Options{CheckInterval: 7 * 24 * time.Hour})
	var spent time.Duration
	for stored := 0; stored < figureLinks; stored += figureFirst {
		batch := c.links(stored, figureFirst)
		runtime.GC() // of what made them
		started := time.Now()
		if n, err := links.Import(t.Context(), batch); err != nil || n != figureFirst {
			t.Fatalf("got %d links stored, %v", n, err)
		}
		if spent += time.Since(started); stored == 0 {
			first, c.first = figureFirst/spent.Seconds(), batch
		}
	}
	return first, figureLinks / spent.Seconds()
}
