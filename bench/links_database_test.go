package bench

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"linkwatch/e2e"
	"linkwatch/models/links"
)

const (
	figureLinks = 100_000
	figureTags  = 5_000
	figureWords = 20_000
)

// TestLinkFigures measures the real binary over HTTP on a database with many links. It asserts no times. Compare a result
// only with the baseline of the same run.
func TestLinkFigures(t *testing.T) {
	if !*figures {
		t.Skip("skipped without -figures (task bench)")
	}
	file := filepath.Join(t.TempDir(), "figures.db")
	c := newCorpus()
	rate := c.store(t, file)
	table("%d links, %d tags, SQLite", figureLinks, figureTags)
	row("store links in bulk, without fetching", "≥ 5,000 links/s", "%.0f links/s", rate)
	row("baseline: plain INSERT of id, URL and title", "", "%.0f rows/s", c.plain(t))
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	row("database file", "", "%.0f MB", float64(info.Size())/1e6)

	started := time.Now()
	s := e2e.Start(t, "DATABASE_URL="+file)
	untilReady(t, s)
	row("time to ready after start", "≤ 0.5 s", "%.0f ms", time.Since(started).Seconds()*1000)

	baseline := baselineServer(t)
	search := func(query func() string) func() string {
		return func() string { return s.URL + "/v1/search?q=" + url.QueryEscape(query()) }
	}
	measure(t, "baseline: bare net/http response of the same size", "", fixed(baseline))
	measurePath(t, s, "GET /v1/links", "≤ 10 ms", "/v1/links")
	measurePath(t, s, "GET /v1/recent", "≤ 10 ms", "/v1/recent")
	measurePath(t, s, "GET /v1/popular", "", "/v1/popular")
	measurePath(t, s, "GET /v1/links?page=1000", "≤ 50 ms", "/v1/links?page=1000")
	measure(t, "search: one word", "≤ 50 ms", search(c.word))
	measure(t, "search: part of a word", "≤ 50 ms", search(c.part))
	measure(t, "search: one or two characters", "≤ 50 ms", search(c.short))
	measure(t, "search: phrase", "≤ 50 ms", search(c.phrase))
	measure(t, "search: tag:", "≤ 50 ms", search(func() string { return "tag:" + c.tag() }))
	measure(t, "search: tag: with three tags", "≤ 50 ms", search(func() string { return "tag:" + c.tag() + " " + c.tag() + " " + c.tag() }))
	measure(t, "search: words, tag: and url:", "≤ 50 ms", search(c.mixed))
	measure(t, "search: words, tag: and url:, no match", "≤ 50 ms", search(func() string { return c.word() + " tag:" + c.tag() + " url:example" }))
	measure(t, "search: a word in half of the titles", "", search(fixed("common")))
	measure(t, "search: a word in every URL", "", search(fixed("example")))
	measure(t, "search: a misspelled word", "", search(c.misspelled))
	measure(t, "tag completion", "≤ 10 ms", func() string { return s.URL + "/links/tags?prefix=" + c.tag()[:4] })
	measurePath(t, s, "page /links", "", "/links")
	measurePath(t, s, "page /", "", "/")
	measurePath(t, s, "page /tags", "", "/tags")

	scans := c.scans(t, file)
	for _, x := range []struct {
		name  string
		query func() string
	}{{"baseline: LIKE scan, one word", c.word}, {"baseline: LIKE scan, phrase", c.phrase}, {"baseline: LIKE scan, one or two characters", c.short}} {
		quantiles(x.name, "", scans(x.query))
	}
	row("memory after this benchmark", "", "%.0f MB", float64(s.Memory())/1e6)

	s.Stop()
	s = e2e.Start(t, "DATABASE_URL="+file)
	untilReady(t, s)
	time.Sleep(5 * time.Second) // until the garbage of the startup has been collected
	row("memory, idle", "≤ 60 MB", "%.0f MB", float64(s.Memory())/1e6)
}

// store fills a new database and returns the number of links stored per second.
func (c *corpus) store(t *testing.T, file string) float64 {
	t.Helper()
	db, closeDB := e2e.OpenDatabase(t, file)
	defer closeDB()
	c.all = make([]links.New, figureLinks)
	for i := range c.all {
		c.all[i] = c.link(i)
	}
	store := links.NewStore(db, nil, nil, links.Options{CheckInterval: 7 * 24 * time.Hour})
	started := time.Now()
	if n, err := store.Import(t.Context(), c.all); err != nil || n != figureLinks {
		t.Fatalf("got %d links stored, %v", n, err)
	}
	return figureLinks / time.Since(started).Seconds()
}
