package e2e

import (
	"database/sql"
	"flag"
	"fmt"
	"io"
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

	"linkwatch/models"
	"linkwatch/models/links"
)

var figures = flag.Bool("figures", false, "measure the program on large stores and print the figures of docs/benchmarks.md")

const (
	figureLinks = 100_000
	figureTags  = 5_000
	figureWords = 20_000
	samples     = 200 // requests behind each p95
)

// TestFigures measures the real binary over HTTP on a large store. It asserts
// nothing about time: a figure is read beside its floor, in the same run.
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
	s := start(t, "DATABASE_URL="+file)
	for !ok(s.url + "/readyz") {
		time.Sleep(time.Millisecond)
	}
	row("ready after start, on that store", "≤ 0.5 s", "%.0f ms", time.Since(begun).Seconds()*1000)

	floor := floorServer(t)
	measure := func(name, bound string, address func() string) {
		took := c.sample(t, address)
		row(name, bound, "p50 %.1f p95 %.1f ms", took[len(took)/2], took[len(took)*95/100])
	}
	fixed := func(u string) func() string { return func() string { return u } }
	search := func(query func() string) func() string {
		return func() string { return s.url + "/v1/search?q=" + url.QueryEscape(query()) }
	}
	measure("bare net/http answer of the same size", "floor", fixed(floor))
	measure("GET /v1/links", "≤ 10 ms", fixed(s.url+"/v1/links"))
	measure("GET /v1/recent", "≤ 10 ms", fixed(s.url+"/v1/recent"))
	measure("GET /v1/popular", "", fixed(s.url+"/v1/popular"))
	measure("GET /v1/links?page=1000", "≤ 50 ms", fixed(s.url+"/v1/links?page=1000"))
	measure("search: one word", "≤ 50 ms", search(c.word))
	measure("search: one word, a part of it", "≤ 50 ms", search(c.part))
	measure("search: one or two characters", "≤ 50 ms", search(c.short))
	measure("search: phrase", "≤ 50 ms", search(c.phrase))
	measure("search: tag:", "≤ 50 ms", search(func() string { return "tag:" + c.tag() }))
	measure("search: tag: of three, any", "≤ 50 ms", search(func() string { return "tag:" + c.tag() + " " + c.tag() + " " + c.tag() }))
	measure("search: mixed, words, tag: and url:", "≤ 50 ms", search(c.mixed))
	measure("search: mixed, that finds nothing", "≤ 50 ms", search(func() string { return c.word() + " tag:" + c.tag() + " url:example" }))
	measure("search: a word in half of the titles", "", search(fixed("common")))
	measure("search: a word in every address", "", search(fixed("example")))
	measure("search: near misses of a misspelt word", "", search(c.misspelt))
	measure("tag completion", "≤ 10 ms", func() string { return s.url + "/links/tags?prefix=" + c.tag()[:4] })
	measure("page /links", "", fixed(s.url+"/links"))
	measure("page /", "", fixed(s.url+"/"))
	measure("page /tags", "", fixed(s.url+"/tags"))

	scans := c.scans(t, file)
	for _, x := range []struct {
		name  string
		query func() string
	}{{"LIKE scan: one word", c.word}, {"LIKE scan: phrase", c.phrase}, {"LIKE scan: one or two characters", c.short}} {
		took := scans(x.query)
		row(x.name+" (count and page)", "beside", "p50 %.1f p95 %.1f ms", took[len(took)/2], took[len(took)*95/100])
	}
	row("memory after all this", "", "%.0f MB", float64(resident(t, s))/1e6)

	s.stop()
	s = start(t, "DATABASE_URL="+file)
	for !ok(s.url + "/readyz") {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(5 * time.Second) // idle: what a start leaves behind has been collected
	row("idle memory, on that store", "≤ 60 MB", "%.0f MB", float64(resident(t, s))/1e6)
}

// table begins a table of figures, and row is a line of it.
func table(title string, args ...any) {
	fmt.Printf("\n"+title+"\n\n", args...)
	row("what", "bound", "measured")
	row("---", "---", "---")
}

func row(name, bound, format string, args ...any) {
	fmt.Printf("| %-49s | %-22s | %-16s |\n", name, fmt.Sprintf(format, args...), bound)
}

// corpus makes up links whose words are as unevenly spread as those of real
// titles, the same ones at each run.
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

func (c *corpus) word() string   { return c.words[c.zipf.Uint64()] }
func (c *corpus) tag() string    { return c.tags[c.rnd.IntN(figureTags)] }
func (c *corpus) phrase() string { return `"` + c.word() + " " + c.word() + `"` }
func (c *corpus) short() string  { return c.word()[:1+c.rnd.IntN(2)] }
func (c *corpus) part() string   { w := c.word(); return w[1:max(4, len(w)-1)] }

// mixed asks for a link by two words of its title, a tag and its host.
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

// store fills a new file and answers how many links it took in a second.
func (c *corpus) store(t *testing.T, file string) float64 {
	t.Helper()
	db, closeDB := newStore(t, file)
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

// plain stores the same addresses and titles in one table with a unique index
// on each of id and address, by plain SQL in transactions of the same size,
// and answers how many rows it took in a second.
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

// sample asks for addresses one after the other and answers how long each
// took, in milliseconds, sorted.
func (c *corpus) sample(t *testing.T, address func() string) []float64 {
	t.Helper()
	took := make([]float64, 0, samples)
	for range samples {
		u := address()
		begun := time.Now()
		res, err := http.Get(u)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close() // it was read to its end
		if res.StatusCode != http.StatusOK {
			t.Fatalf("GET %s: %s", u, res.Status)
		}
		took = append(took, time.Since(begun).Seconds()*1000)
	}
	slices.Sort(took)
	return took
}

// scans measures the searches as plain SQL: LIKE over title, address and tags,
// a count and the first page, as a program without an index would.
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
		slices.Sort(took)
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

func ok(url string) bool {
	res, err := http.Get(url)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// floorServer answers as many bytes as a page of links has, and nothing else.
func floorServer(t *testing.T) string {
	t.Helper()
	body := []byte(strings.Repeat("x", 19_000))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(body) // a reader who left does not concern the floor
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// resident is the memory that the process holds, in bytes.
func resident(t *testing.T, s *server) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	var kB int64
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	if _, err := fmt.Sscanf(strings.TrimSpace(rest), "%d kB", &kB); err != nil {
		t.Fatal(err)
	}
	return kB * 1024
}
