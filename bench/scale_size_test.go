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
	sizePages = 20_000 // of the URLs, that are fetched
	sizeText  = 4_000  // bytes of text of a page, about
	sizeTurn  = 8      // pages that are stored together of a host
)

// TestSizeFigures measures how much of the database URLs and pages of a crawl take, and how long the store works for them. It
// asserts nothing about time.
func TestSizeFigures(t *testing.T) {
	if !*figures {
		t.Skip("figures are measured with -figures (task bench)")
	}
	t.Run(models.SQLite, func(t *testing.T) { sizeOfCrawl(t, filepath.Join(t.TempDir(), "crawl.db")) })
	t.Run(models.Postgres, func(t *testing.T) { sizeOfCrawl(t, modelstest.NewPostgres(t)) })
}

// sizes are the sizes of tables with their indexes, in bytes.
type sizes map[string]float64

var sizeTables = []string{"frontier", "crawl_hosts", "crawled_pages", "page_versions", "page_index", "job_logs"}

// sizeOfCrawl fills a database with a crawl and prints how much of it each thing takes.
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
	table("The database of a crawl, %s: %d URLs on %d hosts, then %d pages with %d bytes of text and %d links", db.Engine, sizeURLs, sizeHosts, sizePages, sizeText, pageLinks)

	empty, begun := sizesOf(t, db), time.Now()
	for some := range slices.Chunk(urls, 20_000) {
		found := make([]crawl.Found, len(some))
		for i, u := range some {
			found[i] = crawl.Found{Crawl: e.CrawlSeq, Source: 1, URL: u, Depth: 1}
		}
		if err := store.Enqueue(ctx, e, found); err != nil {
			t.Fatal(err)
		}
	}
	waiting := sizesOf(t, db)
	row("URLs stored in the frontier", "", "%.0f/s", sizeURLs/time.Since(begun).Seconds())
	row("a URL that waits, of that its text", "", "%.0f B, %d B", (waiting["frontier"]-empty["frontier"])/sizeURLs, len(strings.Join(urls, ""))/sizeURLs)
	row("a host", "", "%.0f B", (waiting["crawl_hosts"]-empty["crawl_hosts"])/sizeHosts)

	begun = time.Now()
	recording := fetchPages(t, store, me, c, urls)
	stored, fetching := sizesOf(t, db), time.Since(begun)-recording.invented
	row("pages claimed, loaded and stored", "", "%.0f/s", sizePages/fetching.Seconds())
	row("  of that storing takes, for each page", "", "%.2f ms", recording.storing.Seconds()*1000/sizePages)
	begun = time.Now()
	for n := 1; n > 0; {
		var err error
		if n, err = store.IndexNext(ctx, 250); err != nil {
			t.Fatal(err)
		}
	}
	row("pages indexed", "", "%.0f/s", sizePages/time.Since(begun).Seconds())
	all, sum := sizesOf(t, db), 0.0
	for _, name := range sizeTables[2:] {
		of := (all[name] - empty[name]) / sizePages
		sum += of
		row("a page in "+name, "", "%.0f B", of)
	}
	row("a page, together", "", "%.0f B", sum)
	row("a URL that was fetched, in frontier", "", "%.0f B", (stored["frontier"]-waiting["frontier"])/sizePages+(waiting["frontier"]-empty["frontier"])/sizeURLs)
	if info, err := os.Stat(url); err == nil {
		row("the file", "", "%.0f MB", float64(info.Size())/1e6)
	}
}

// beginCrawl begins a crawl with a single source, whose key is 1.
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
	e, began, err := store.Begin(ctx, me, 1)
	if err != nil || !began {
		t.Fatal(began, err)
	}
	return e
}

// recording is how long fetchPages took for what is not the store's, and for storing.
type recording struct{ invented, storing time.Duration }

// fetchPages takes the URLs of the frontier and stores a page for each, as turns of the crawler do.
func fetchPages(t *testing.T, store *crawl.Store, me lease.ID, c *corpus, urls []string) (r recording) {
	t.Helper()
	ctx := context.Background()
	for n := 0; n < sizePages; {
		hosts, _, err := store.ClaimHosts(ctx, me, 60, 0)
		if err != nil || len(hosts) == 0 {
			t.Fatal(len(hosts), err)
		}
		var turns []*crawl.Turn
		for _, h := range hosts {
			turn := &crawl.Turn{Host: h}
			turn.NextAt = store.Now()
			if turn.Left, err = store.Load(ctx, h, sizeTurn); err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			for len(turn.Left) > 0 {
				turn.Add(inventPage(c, turn.Left[0], urls, store.Now()))
				turn.Left = turn.Left[1:]
				n++
			}
			r.invented += time.Since(begun)
			turns = append(turns, turn)
		}
		begun := time.Now()
		if err := store.Record(ctx, turns...); err != nil {
			t.Fatal(err)
		}
		r.storing += time.Since(begun)
	}
	return r
}

// inventPage is a fetched page with a text of words as uneven as real ones, and links to URLs of the frontier.
func inventPage(c *corpus, e crawl.Entry, urls []string, now models.Time) crawl.Result {
	var text, links strings.Builder
	words := 0
	for ; text.Len() < sizeText; words++ {
		text.WriteString(c.word() + " ")
	}
	r := crawl.Result{Entry: e, Status: crawl.EntryDone, Line: crawl.LogLine(now, "info", "fetched", "status", 200, "depth", e.Depth, "links", pageLinks, "ms", 120, "url", e.URL)}
	for range pageLinks {
		to := urls[c.rnd.IntN(len(urls))]
		links.WriteString(to + "\t" + c.word() + " " + c.word() + " " + c.word() + "\n")
		r.Links = append(r.Links, crawl.Found{Crawl: e.CrawlSeq, Source: e.SourceSeq, URL: to, Depth: e.Depth + 1})
	}
	sum := sha256.Sum256([]byte(text.String()))
	title := strings.Join([]string{c.word(), c.word(), c.word(), c.word(), c.word(), c.word()}, " ")
	description := text.String()[:150]
	r.Page = &crawl.Page{
		SourceSeq: e.SourceSeq, CrawlSeq: e.CrawlSeq, URL: e.URL, StatusCode: 200, ContentType: "text/html", Title: title, Description: description, Language: "en",
		OpenGraph:   crawl.OpenGraph{Title: title, Description: description, Image: e.URL + "/image.jpg", SiteName: c.word(), Type: "article"},
		ContentHash: hex.EncodeToString(sum[:]), LinksFound: pageLinks, FetchedAt: now, Author: c.word(), PublishedAt: now, Headings: title, WordCount: words,
		Links: crawl.Pack(links.String()), Text: crawl.Pack(text.String()), ETag: `"` + hex.EncodeToString(sum[:8]) + `"`,
	}
	return r
}

// sizesOf are the sizes of tables with their indexes.
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
		for _, name := range sizeTables { // what is free without the rows was theirs
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
