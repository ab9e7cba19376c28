//go:build e2e

package bench

import (
	"database/sql"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sqlite "github.com/ncruces/go-sqlite3/driver"

	"linkwatch/models"
	"linkwatch/models/links"
)

// plain stores the same URLs and titles in one table with unique indexes on id and URL, by plain SQL in transactions
// of the same size. It returns the rows stored per second.
func (c *corpus) plain(t *testing.T) float64 {
	t.Helper()
	db, err := sqlite.Open("file:" + filepath.Join(t.TempDir(), "plain.db") + "?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // it is not needed after a crash
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE links (seq INTEGER PRIMARY KEY, id TEXT UNIQUE, url TEXT UNIQUE, title TEXT)"); err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	for batch := range slices.Chunk(c.first, 2500) {
		plainBatch(t, db, batch)
	}
	return figureFirst / time.Since(started).Seconds()
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

// scans measures searches in plain SQL, as a program without a search index would run them. They use LIKE over
// title, URL and tags, for a count and the first page. The times are in milliseconds.
func (c *corpus) scans(t *testing.T, file string) func(query func() string) []float64 {
	t.Helper()
	db, err := sqlite.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	const where = ` FROM links WHERE expired_at IS NULL AND (title LIKE ?1 OR url LIKE ?1 OR EXISTS
		(SELECT 1 FROM link_tags JOIN tags ON tags.seq = tag_seq WHERE link_seq = links.seq AND name LIKE ?1))`
	return func(query func() string) []float64 {
		took := make([]float64, 0, samples/40)
		for range samples / 40 {
			like := "%" + strings.Trim(query(), `"`) + "%"
			started := time.Now()
			scan(t, db, "SELECT count(*)"+where, like)
			scan(t, db, "SELECT seq"+where+" ORDER BY title LIKE ?1 DESC, url LIKE ?1 DESC, seq DESC LIMIT 30", like)
			took = append(took, time.Since(started).Seconds()*1000)
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
	defer func() { _ = rows.Close() }() // rows.Err returns the error
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

// baselineServer serves responses of the size of a page of links.
func baselineServer(t *testing.T) string {
	t.Helper()
	body := []byte(strings.Repeat("x", 19_000))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(body) // the client may have disconnected
	}))
	t.Cleanup(s.Close)
	return s.URL
}
