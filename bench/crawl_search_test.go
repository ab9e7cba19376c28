//go:build e2e

package bench

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	"linkwatch/models/modelstest"
)

const (
	searchPages = 500_000
	searchWords = 450 // per page, about 3 KB
)

// searchFigures measures searches over crawled pages.
func searchFigures(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pages.db")
	size := func() int64 {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	searchOver(t, "SQLite", file, size)
	if os.Getenv("TEST_POSTGRES_URL") == "" {
		return
	}
	url := modelstest.NewPostgres(t)
	searchOver(t, "PostgreSQL", url, func() (size int64) {
		db, closeDB := e2e.OpenDatabase(t, url)
		defer closeDB()
		// Autovacuum does this within minutes in production.
		modelstest.Exec(t, db, "ANALYZE")
		if err := db.Read(t.Context()).Raw("SELECT pg_database_size(current_database())").Scan(&size).Error; err != nil {
			t.Fatal(err)
		}
		return size
	})
}

// searchOver fills an empty database and measures searches in it.
func searchOver(t *testing.T, engine, store string, size func() int64) {
	started := time.Now()
	fillPages(t, store, searchPages)
	table("Search over %d crawled pages of %d words, %s", searchPages, searchWords, engine)
	row("time per page to fill and index", "", "%.2f ms", time.Since(started).Seconds()*1000/searchPages)
	row("database size per page", "", "%.1f KB", float64(size())/1024/searchPages)
	s := e2e.Start(t, "DATABASE_URL="+store, "CRAWLER_POLL_INTERVAL=1h")
	defer s.Stop()
	var sources struct{ Items []struct{ ID string } }
	s.Call("GET", "/v1/sources?limit=1", nil, &sources)
	source, w := sources.Items[0].ID, vocabulary
	var all []float64
	for _, q := range []struct{ name, query, filter string }{
		{"the most frequent word", w[0], ""},
		{"a frequent word", w[20], ""},
		{"a common word", w[1000], ""},
		{"a rare word", w[40_000], ""},
		{"two frequent words", w[3] + " " + w[5], ""},
		{"a frequent and a rare word", w[1] + " " + w[30_000], ""},
		{"two common words", w[400] + " " + w[700], ""},
		{"three words", w[10] + " " + w[200] + " " + w[900], ""},
		{"a phrase of frequent words", `"` + w[0] + " " + w[1] + `"`, ""},
		{"a phrase of common words", `"` + w[60] + " " + w[90] + `"`, ""},
		{"a prefix", w[2000][:4] + "*", ""},
		{"a common word without a frequent one", w[500] + " -" + w[2], ""},
		{"no match", "qqqqq", ""},
		{"a frequent word of one source", w[8], "source_id=" + source + "&"},
		{"a frequent word of one month", w[8], "since=2026-03-01&until=2026-03-31&"},
	} {
		var took []float64
		for range 30 {
			started := time.Now()
			path := "/v1/crawled-pages?limit=50&" + q.filter + "q=" + url.QueryEscape(q.query)
			if status := s.Call("GET", path, nil, nil); status != 200 {
				t.Fatalf("%s: status %d", path, status)
			}
			took = append(took, time.Since(started).Seconds()*1000)
		}
		all = append(all, took...)
		quantiles(q.name, "", took)
	}
	quantiles("all searches", "p95 ≤ 50 ms", all)
	measurePath(t, s, "page /crawl/pages", "", "/crawl/pages")
	row("memory at most", "≤ 300 MB", "%d MB", s.PeakMemory()>>20)
}

// fillPages stores and indexes pages as crawls do.
func fillPages(t *testing.T, store string, n int) {
	t.Helper()
	db, closeDB := e2e.OpenDatabase(t, store)
	defer closeDB()
	ctx := context.Background()
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	crawls := crawl.NewStore(db, time.Now, crawl.Options{StaleAfter: time.Hour})
	for i := range 20 {
		if _, err := crawls.AddSource(ctx, crawl.NewSource{URL: fmt.Sprintf("https://site%d.example/", i), Enabled: true}); err != nil {
			t.Fatal(err)
		}
	}
	write := newWriter(1)
	for at := 0; at < n; {
		pages := models.NewRows("source_seq bigint, url text, url_hash bytes, title text, content_hash text, word_count bigint, at bigint")
		versions := models.NewRows("page_seq bigint, title text, content_hash text, word_count bigint, text bytes, at bigint")
		for ; at < n && pages.Len() < 1000; at++ {
			address, text := fmt.Sprintf("https://site%d.example/p%d", at%20, at), write.words(searchWords)
			sum, title, hash := sha256.Sum256([]byte(text)), write.words(6), sha256.Sum256([]byte(address))
			found := models.At(day.Add(time.Duration(at) * time.Minute))
			pages.Add(1+at%20, address, hash[:16], title, hex.EncodeToString(sum[:]), searchWords, found)
			versions.Add(at+1, title, hex.EncodeToString(sum[:]), searchWords, []byte(crawl.CompressText(text)), found)
		}
		err := db.Write(ctx, func(tx *gorm.DB) error {
			err := pages.Exec(tx, `INSERT INTO crawled_pages (source_seq, crawl_seq, url, url_hash, status_code, content_type, title, description, language,
					og_title, og_description, og_image, og_site_name, og_type, content_hash, links_found, noindex, etag, last_modified, created_at, fetched_at, changed_at,
					word_count, versions, text_version, unindexed)
				SELECT source_seq, 1, url, url_hash, 200, 'text/html', title, '', 'en', '', '', '', '', '', content_hash, 0, false, '', '', at, at, at, word_count, 1, 1, true FROM {rows} AS r`).Error
			if err != nil {
				return err
			}
			return versions.Exec(tx, `INSERT INTO page_versions (page_seq, version, change, crawl_seq, status_code, title, content_hash, word_count, text, created_at)
				SELECT page_seq, 1, 'new', 1, 200, title, content_hash, word_count, text, at FROM {rows} AS r`).Error
		})
		for more := 1; more > 0 && err == nil; {
			more, err = crawls.IndexNext(ctx, 250)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
