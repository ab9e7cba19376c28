package bench

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/e2e"
	"linkwatch/models"
	"linkwatch/models/links"
)

const (
	figureLinks = 100_000
	figureTags  = 5_000
	figureWords = 20_000
)

// TestFigures measures the real binary over HTTP on a database with many links. It asserts nothing about time: each
// figure is to be compared with its baseline in the same run.
func TestFigures(t *testing.T) {
	if !*figures {
		t.Skip("figures are measured with -figures (task bench)")
	}
	file := filepath.Join(t.TempDir(), "figures.db")
	c := newCorpus()
	rate := c.store(t, file)
	table("%d links, %d tags, SQLite", figureLinks, figureTags)
	row("bulk store without fetching", "≥ 5,000 links/s", "%.0f links/s", rate)
	row("plain INSERTs of id, address and title", "floor", "%.0f rows/s", c.plain(t))
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	row("size of the file", "", "%.0f MB", float64(info.Size())/1e6)

	begun := time.Now()
	s := e2e.Start(t, "DATABASE_URL="+file)
	untilReady(t, s)
	row("ready after start, on that store", "≤ 0.5 s", "%.0f ms", time.Since(begun).Seconds()*1000)

	floor := floorServer(t)
	search := func(query func() string) func() string {
		return func() string { return s.URL + "/v1/search?q=" + url.QueryEscape(query()) }
	}
	measure(t, "bare net/http answer of the same size", "floor", fixed(floor))
	measurePath(t, s, "GET /v1/links", "≤ 10 ms", "/v1/links")
	measurePath(t, s, "GET /v1/recent", "≤ 10 ms", "/v1/recent")
	measurePath(t, s, "GET /v1/popular", "", "/v1/popular")
	measurePath(t, s, "GET /v1/links?page=1000", "≤ 50 ms", "/v1/links?page=1000")
	measure(t, "search: one word", "≤ 50 ms", search(c.word))
	measure(t, "search: one word, a part of it", "≤ 50 ms", search(c.part))
	measure(t, "search: one or two characters", "≤ 50 ms", search(c.short))
	measure(t, "search: phrase", "≤ 50 ms", search(c.phrase))
	measure(t, "search: tag:", "≤ 50 ms", search(func() string { return "tag:" + c.tag() }))
	measure(t, "search: tag: of three, any", "≤ 50 ms", search(func() string { return "tag:" + c.tag() + " " + c.tag() + " " + c.tag() }))
	measure(t, "search: mixed, words, tag: and url:", "≤ 50 ms", search(c.mixed))
	measure(t, "search: mixed, that finds nothing", "≤ 50 ms", search(func() string { return c.word() + " tag:" + c.tag() + " url:example" }))
	measure(t, "search: a word in half of the titles", "", search(fixed("common")))
	measure(t, "search: a word in every address", "", search(fixed("example")))
	measure(t, "search: near misses of a misspelt word", "", search(c.misspelt))
	measure(t, "tag completion", "≤ 10 ms", func() string { return s.URL + "/links/tags?prefix=" + c.tag()[:4] })
	measurePath(t, s, "page /links", "", "/links")
	measurePath(t, s, "page /", "", "/")
	measurePath(t, s, "page /tags", "", "/tags")

	scans := c.scans(t, file)
	for _, x := range []struct {
		name  string
		query func() string
	}{{"LIKE scan: one word", c.word}, {"LIKE scan: phrase", c.phrase}, {"LIKE scan: one or two characters", c.short}} {
		quantiles(x.name+" (count and page)", "beside", scans(x.query))
	}
	row("memory after all this", "", "%.0f MB", float64(s.Memory())/1e6)

	s.Stop()
	s = e2e.Start(t, "DATABASE_URL="+file)
	untilReady(t, s)
	time.Sleep(5 * time.Second) // idle: what a start leaves behind has been collected
	row("idle memory, on that store", "≤ 60 MB", "%.0f MB", float64(s.Memory())/1e6)
}

// store fills a new file and returns the links stored per second.
func (c *corpus) store(t *testing.T, file string) float64 {
	t.Helper()
	db, closeDB := e2e.OpenDatabase(t, file)
	defer closeDB()
	c.all = make([]links.New, figureLinks)
	for i := range c.all {
		c.all[i] = c.link(i)
	}
	store := links.NewStore(db, nil, nil, links.Options{CheckInterval: 7 * 24 * time.Hour})
	begun := time.Now()
	if n, err := store.Import(t.Context(), c.all); err != nil || n != figureLinks {
		t.Fatalf("stored %d: %v", n, err)
	}
	return figureLinks / time.Since(begun).Seconds()
}

// corpus invents links. Its words are distributed as unevenly as those of real titles, and are the same in each run.
type corpus struct {
	rnd   *rand.Rand
	zipf  *rand.Zipf
	words []string
	tags  []string
	all   []links.New
}

func newCorpus() *corpus {
	c := &corpus{rnd: rand.New(rand.NewPCG(1, 2))}
	const consonants, vowels = "bcdfghjklmnprstvwz", "aeiou"
	seen := map[string]bool{}
	for len(c.words) < figureWords {
		var b strings.Builder
		for range 2 + c.rnd.IntN(3) {
			b.WriteByte(consonants[c.rnd.IntN(len(consonants))])
			b.WriteByte(vowels[c.rnd.IntN(len(vowels))])
			if c.rnd.IntN(3) == 0 {
				b.WriteByte(consonants[c.rnd.IntN(len(consonants))])
			}
		}
		if w := b.String(); !seen[w] {
			seen[w] = true
			c.words = append(c.words, w)
		}
	}
	c.zipf = rand.NewZipf(c.rnd, 1.1, 5, figureWords-1)
	for i := range figureTags {
		c.tags = append(c.tags, fmt.Sprintf("%s-%d", c.words[figureWords-1-i], i))
	}
	return c
}

func (c *corpus) word() string { return c.words[c.zipf.Uint64()] }

func (c *corpus) tag() string { return c.tags[c.rnd.IntN(figureTags)] }

func (c *corpus) phrase() string { return `"` + c.word() + " " + c.word() + `"` }

func (c *corpus) short() string { return c.word()[:1+c.rnd.IntN(2)] }

func (c *corpus) part() string { w := c.word(); return w[1:max(4, len(w)-1)] }

// mixed is a search for a link by two words of its title, a tag and its host.
func (c *corpus) mixed() string {
	l := c.all[c.rnd.IntN(len(c.all))]
	title := strings.Fields(l.Title)
	return title[0] + " " + title[3] + " tag:" + l.Tags[1] + " url:example.com"
}

func (c *corpus) misspelt() string {
	w := []byte(c.word())
	i := 1 + c.rnd.IntN(len(w)-2)
	w[i], w[i+1] = w[i+1], w[i]
	return string(w) + "x"
}

func (c *corpus) link(i int) links.New {
	title := []string{c.word(), c.word(), c.word(), c.word(), c.word(), c.word()}
	if i%2 == 0 {
		title = append(title, "common")
	}
	return links.New{
		URL:   fmt.Sprintf("https://%s.example.com/%s/%s-%d", c.word(), c.word(), c.word(), i),
		Title: strings.Join(title, " "),
		Tags:  []string{c.tag(), c.tag(), c.tag()},
	}
}

// plain stores the same URLs and titles in one table with unique indexes on id and URL, by plain SQL in transactions
// of the same size. It returns the rows stored per second.
func (c *corpus) plain(t *testing.T) float64 {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "plain.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // it is thrown away
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE links (seq INTEGER PRIMARY KEY, id TEXT UNIQUE, url TEXT UNIQUE, title TEXT)"); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	for batch := range slices.Chunk(c.all, 2500) {
		plainBatch(t, db, batch)
	}
	return figureLinks / time.Since(begun).Seconds()
}

func plainBatch(t *testing.T, db *sql.DB, batch []links.New) {
	t.Helper()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	insert, err := tx.Prepare("INSERT INTO links (id, url, title) VALUES (?, ?, ?)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = insert.Close() }() // the commit closed it
	for _, l := range batch {
		if _, err := insert.Exec(models.NewID(models.KindLink), l.URL, l.Title); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// scans measures searches in plain SQL, as a program without an index would run them: LIKE over title, URL and tags,
// a count and the first page. The times are in milliseconds.
func (c *corpus) scans(t *testing.T, file string) func(query func() string) []float64 {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	const where = ` FROM links WHERE expired_at IS NULL AND (title LIKE ?1 OR url LIKE ?1 OR EXISTS
		(SELECT 1 FROM link_tags JOIN tags ON tags.seq = tag_seq WHERE link_seq = links.seq AND name LIKE ?1))`
	return func(query func() string) []float64 {
		took := make([]float64, 0, samples/10)
		for range samples / 10 {
			like := "%" + strings.Trim(query(), `"`) + "%"
			begun := time.Now()
			scan(t, db, "SELECT count(*)"+where, like)
			scan(t, db, "SELECT seq"+where+" ORDER BY title LIKE ?1 DESC, url LIKE ?1 DESC, seq DESC LIMIT 30", like)
			took = append(took, time.Since(begun).Seconds()*1000)
		}
		return took
	}
}

// scan reads every row of a query.
func scan(t *testing.T, db *sql.DB, query, like string) {
	t.Helper()
	rows, err := db.Query(query, like)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err tells what went wrong
	var n int
	for rows.Next() {
		if err := rows.Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// floorServer serves responses of the size of a page of links, and does nothing else.
func floorServer(t *testing.T) string {
	t.Helper()
	body := []byte(strings.Repeat("x", 19_000))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(body) // a reader who left does not concern the floor
	}))
	t.Cleanup(s.Close)
	return s.URL
}
