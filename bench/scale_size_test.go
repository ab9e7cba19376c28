//go:build e2e

package bench

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/e2e"
	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
)

const (
	sizeURLs  = 500_000
	sizeHosts = 5_000
	sizePages = 20_000 // number of URLs that are fetched
	sizeText  = 4_000  // approximate text of a page, in bytes
	sizeTurn  = 8      // pages of a host that are stored together
)

// TestSizeFigures measures the database size of URLs and pages of a crawl, and the time to store them. It asserts no times.
func TestSizeFigures(t *testing.T) {
	if !*figures {
		t.Skip("skipped without -figures (task bench)")
	}
	t.Run(models.SQLite, func(t *testing.T) { sizeOfCrawl(t, filepath.Join(t.TempDir(), "crawl.db")) })
	t.Run(models.Postgres, func(t *testing.T) { sizeOfCrawl(t, modelstest.NewPostgres(t)) })
}

// sizes has the sizes of tables with their indexes, in bytes.
type sizes map[string]float64

var sizeTables = []string{"frontier", "crawl_hosts", "crawled_pages", "page_versions", "page_index", "job_logs"}

// sizeOfCrawl fills a database with a crawl and prints the sizes.
func sizeOfCrawl(t *testing.T, url string) {
	db, closeDB := e2e.OpenDatabase(t, url)
	defer closeDB()
	ctx := context.Background()
	store := crawl.NewStore(db, time.Now, crawl.Options{StaleAfter: time.Hour})
	me := modelstest.Lease(t, db, "i_size")
	c := newCorpus()
	urls := make([]string, sizeURLs)
	for i := range urls {
		urls[i] = fmt.Sprintf("https://www.host%d.example/%s/%s-%s-%s-%d.html", i%sizeHosts, c.word(), c.word(), c.word(), c.word(), i)
	}
	e := beginCrawl(t, store, me)
	table("Size of a crawl database, %s: %d URLs on %d hosts, then %d pages with %d bytes of text and %d links", db.Engine, sizeURLs, sizeHosts, sizePages, sizeText, pageLinks)

	empty, started := sizesOf(t, db), time.Now()
	for some := range slices.Chunk(urls, 20_000) {
		found := make([]crawl.FoundURL, len(some))
		for i, u := range some {
			found[i] = crawl.FoundURL{Crawl: e.CrawlSeq, Source: 1, URL: u, Depth: 1}
		}
		if err := store.Enqueue(ctx, e, found); err != nil {
			t.Fatal(err)
		}
	}
	queued := sizesOf(t, db)
	row("URLs stored in the frontier", "", "%.0f/s", sizeURLs/time.Since(started).Seconds())
	row("size of a URL in the frontier, and of its text", "", "%.0f B, %d B", (queued["frontier"]-empty["frontier"])/sizeURLs, len(strings.Join(urls, ""))/sizeURLs)
	row("size of a host", "", "%.0f B", (queued["crawl_hosts"]-empty["crawl_hosts"])/sizeHosts)

	started = time.Now()
	recording := fetchPages(t, store, me, c, urls)
	stored, fetching := sizesOf(t, db), time.Since(started)-recording.invented
	row("pages claimed, loaded and stored", "", "%.0f/s", sizePages/fetching.Seconds())
	row("time to store a page", "", "%.2f ms", recording.storing.Seconds()*1000/sizePages)
	started = time.Now()
	for n := 1; n > 0; {
		var err error
		if n, err = store.IndexNext(ctx, 250); err != nil {
			t.Fatal(err)
		}
	}
	row("pages indexed", "", "%.0f/s", sizePages/time.Since(started).Seconds())
	all, sum := sizesOf(t, db), 0.0
	for _, name := range sizeTables[2:] {
		of := (all[name] - empty[name]) / sizePages
		sum += of
		row("size of a page, "+name, "", "%.0f B", of)
	}
	row("size of a page, total", "", "%.0f B", sum)
	row("size of a fetched URL in the frontier", "", "%.0f B", (stored["frontier"]-queued["frontier"])/sizePages+(queued["frontier"]-empty["frontier"])/sizeURLs)
	if info, err := os.Stat(url); err == nil {
		row("database file", "", "%.0f MB", float64(info.Size())/1e6)
	}
}

// beginCrawl starts a crawl with a single source, whose key is 1.
func beginCrawl(t *testing.T, store *crawl.Store, me lease.ID) crawl.Execution {
	t.Helper()
	ctx := context.Background()
	src, err := store.AddSource(ctx, crawl.NewSource{URL: "https://www.host0.example/", Enabled: true, MaxDepth: 5, RateLimitMS: new(int)})
	if err != nil || src.Seq != 1 {
		t.Fatal(src.Seq, err)
	}
	if _, err := store.AddJob(ctx, crawl.NewJob{SourceID: src.ID, URL: src.URL}); err != nil {
		t.Fatal(err)
	}
	e, started, err := store.StartExecution(ctx, me, 1)
	if err != nil || !started {
		t.Fatal(started, err)
	}
	return e
}

// recording has the times of fetchPages: generating pages, and storing them.
type recording struct{ invented, storing time.Duration }

// fetchPages claims the URLs of the frontier and stores a page for each, as the crawler does.
func fetchPages(t *testing.T, store *crawl.Store, me lease.ID, c *corpus, urls []string) (r recording) {
	t.Helper()
	ctx := context.Background()
	for n := 0; n < sizePages; {
		hosts, _, err := store.ClaimHosts(ctx, me, 60, 0)
		if err != nil || len(hosts) == 0 {
			t.Fatal(len(hosts), err)
		}
		var turns []*crawl.HostBatch
		for _, h := range hosts {
			turn := &crawl.HostBatch{Host: h}
			turn.NextAt = store.Now()
			if turn.Unfetched, err = store.LoadEntries(ctx, h, sizeTurn); err != nil {
				t.Fatal(err)
			}
			started := time.Now()
			for len(turn.Unfetched) > 0 {
				turn.Add(inventPage(c, turn.Unfetched[0], urls, store.Now()))
				turn.Unfetched = turn.Unfetched[1:]
				n++
			}
			r.invented += time.Since(started)
			turns = append(turns, turn)
		}
		started := time.Now()
		if err := store.Record(ctx, turns...); err != nil {
			t.Fatal(err)
		}
		r.storing += time.Since(started)
	}
	return r
}

// inventPage generates a fetched page with a realistic text and links to URLs of the frontier.
func inventPage(c *corpus, e crawl.Entry, urls []string, now models.Time) crawl.Result {
	var text, links strings.Builder
	words := 0
	for ; text.Len() < sizeText; words++ {
		text.WriteString(c.word() + " ")
	}
	r := crawl.Result{Entry: e, Status: crawl.EntryDone, LogLine: crawl.FormatLogLine(now, "info", "fetched", "status", 200, "depth", e.Depth, "links", pageLinks, "ms", 120, "url", e.URL)}
	for range pageLinks {
		to := urls[c.rnd.IntN(len(urls))]
		links.WriteString(to + "\t" + c.word() + " " + c.word() + " " + c.word() + "\n")
		r.Links = append(r.Links, crawl.FoundURL{Crawl: e.CrawlSeq, Source: e.SourceSeq, URL: to, Depth: e.Depth + 1})
	}
	sum := sha256.Sum256([]byte(text.String()))
	title := strings.Join([]string{c.word(), c.word(), c.word(), c.word(), c.word(), c.word()}, " ")
	description := text.String()[:150]
	r.Page = &crawl.Page{
		SourceSeq: e.SourceSeq, CrawlSeq: e.CrawlSeq, URL: e.URL, StatusCode: 200, ContentType: "text/html", Title: title, Description: description, Language: "en",
		OpenGraph:   crawl.OpenGraph{Title: title, Description: description, Image: e.URL + "/image.jpg", SiteName: c.word(), Type: "article"},
		ContentHash: hex.EncodeToString(sum[:]), LinksFound: pageLinks, FetchedAt: now, Author: c.word(), PublishedAt: now, Headings: title, WordCount: words,
		Links: crawl.CompressText(links.String()), Text: crawl.CompressText(text.String()), ETag: `"` + hex.EncodeToString(sum[:8]) + `"`,
	}
	return r
}

// sizesOf returns the sizes of tables with their indexes.
func sizesOf(t *testing.T, db *models.DB) sizes {
	t.Helper()
	all, ctx := sizes{}, context.Background()
	if db.Engine == models.Postgres {
		for _, name := range sizeTables {
			var bytes float64
			if err := db.Read(ctx).Raw("SELECT pg_total_relation_size(?)", name).Scan(&bytes).Error; err != nil {
				t.Fatal(err)
			}
			all[name] = bytes
		}
		return all
	}
	kept := errors.New("the rows stay")
	err := db.Write(ctx, func(tx *gorm.DB) error {
		number := func(query string) (n float64) {
			if err := tx.Raw(query).Scan(&n).Error; err != nil {
				t.Fatal(err)
			}
			return n
		}
		page := number("PRAGMA page_size")
		for _, name := range sizeTables { // the pages that the rows used are free now
			free := number("PRAGMA freelist_count")
			empty := "DELETE FROM " + name
			if name == "page_index" {
				empty = "INSERT INTO page_index (page_index) VALUES ('delete-all')"
			}
			if err := tx.Exec(empty).Error; err != nil {
				return err
			}
			all[name] = (number("PRAGMA freelist_count") - free) * page
		}
		return kept
	})
	if !errors.Is(err, kept) {
		t.Fatal(err)
	}
	return all
}
