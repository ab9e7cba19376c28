//go:build e2e

package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sqlite "github.com/ncruces/go-sqlite3/driver"
	"github.com/ncruces/go-sqlite3/ext/fts5"

	"linkwatch/models/modelstest"
)

// While the program writes, a second SQLite reads all tables. Each read is one consistent state. After the program has
// ended, both read the same rows.
func TestSecondSQLiteReads(t *testing.T) {
	t.Parallel()
	s := Start(t, demoIn(t))
	db := second(t, s.store, waiting)
	writers := s.write("read")
	for rounds := 0; rounds < 3 || len(writers.written()) < 100; rounds++ {
		acked := writers.written()
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		tables := contents(t, tx)
		isSound(t, tx, tables)
		hasShortLinks(t, tx, acked)
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}
	hasShortLinks(t, db, writers.stop())
	archived := "short_links) + (SELECT count(*) FROM archived_short_links"
	for path, table := range map[string]string{
		"/v1/shortlinks": archived, "/v1/targets": "targets", "/v1/jobs": "jobs", "/v1/websites": "websites",
		"/v1/channels": "channels",
	} {
		n := texts(t, db, "SELECT (SELECT count(*) FROM "+table+")")[0]
		if want := len(everything[struct{}](s, path, 100)); n != fmt.Sprint(want) {
			t.Errorf("%s: the program has %d, the second SQLite read %s", path, want, n)
		}
	}
	s.Stop()
	tables := contents(t, db)
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	sameRows(t, s.store, tables)
}

// sameRows fails the test unless the program's SQLite reads the same rows from a file that no program has open.
func sameRows(t *testing.T, file string, want map[string][]string) {
	t.Helper()
	db, err := sqlite.Open(file, fts5.Register)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	got := contents(t, db)
	if len(got) < 50 || !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
		t.Errorf("got %d tables, want %d", len(got), len(want))
	}
	for table, rows := range want {
		if !slices.Equal(got[table], rows) {
			t.Errorf("%s: got %d rows, want other %d", table, len(got[table]), len(rows))
		}
	}
}

// A second SQLite finds the same crawled pages in the FTS5 index as the program does.
func TestSecondSQLiteSearches(t *testing.T) {
	t.Parallel()
	s := Start(t, demoIn(t))
	db := second(t, s.store, waiting)
	for search, match := range map[string]string{
		"shop": `"shop"`, "knives price": `"knives" AND "price"`, "kni*": `"kni"*`, "nothinglikethis": `"nothinglikethis"`,
	} {
		pages, _ := listed[struct{ URL string }](s, "/v1/crawled-pages?limit=200&q="+strings.ReplaceAll(search, " ", "+"))
		want := make([]string, len(pages))
		for i, p := range pages {
			want[i] = p.URL
		}
		slices.Sort(want)
		got := texts(t, db, `SELECT p.url FROM page_index AS i JOIN crawled_pages AS p ON p.seq = (1 << 35) - 1 - i.rowid
			WHERE page_index MATCH ? ORDER BY p.url COLLATE BINARY`, match)
		if !slices.Equal(got, want) || (len(got) == 0) != (search == "nothinglikethis") {
			t.Errorf("%s: got %q, the program found %q", search, got, want)
		}
	}
}

// While a second SQLite has the write lock, the program reads and waits with its writes. Then all of them succeed.
func TestSecondSQLiteHoldsLock(t *testing.T) {
	t.Parallel()
	s := Start(t)
	db := second(t, s.store, waiting, immediate)
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	writers := s.write("wait")
	modelstest.Eventually(t, "the program has the writes", func() bool {
		return strings.Contains(bodyOf(t, s, "/metrics"), "\nlinkwatch_http_requests_in_flight 5\n") // and this request
	})
	for range 3 {
		if status := s.Call(http.MethodGet, "/v1/shortlinks", nil, nil); status != http.StatusOK {
			t.Errorf("a read: status %d", status)
		}
	}
	if keys := writers.written(); len(keys) > 0 {
		t.Errorf("acknowledged without the lock: %q", keys)
	}
	if _, err := tx.Exec(addShortLink, "of-second"); err != nil {
		t.Error(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	modelstest.Eventually(t, "the program writes", func() bool { return len(writers.written()) > 20 })
	want := append(writers.stop(), "of-second")
	if got := texts(t, db, "SELECT short_key FROM short_links"); len(got) != len(want) {
		t.Errorf("got %d short links, want %d", len(got), len(want))
	}
	isSound(t, db, contents(t, db))
}

// addShortLink is a statement of a program that is not Linkwatch.
const addShortLink = `INSERT INTO short_links (short_key, long_url, canonical_url, title, search_text, max_visits,
		disabled, created_at, updated_at, version, visits, bots)
	SELECT ?, 'https://go.dev/second', 'https://go.dev/second', '', 'second', 0, FALSE, 1, 1, newest + 1, 0, 0
	FROM short_link_version`

// A second SQLite meets the write lock of the program, and gets it when it waits. What it writes, the program shows.
func TestSecondSQLiteMeetsLock(t *testing.T) {
	t.Parallel()
	s := Start(t)
	probe, patient := second(t, s.store, immediate, hasty), second(t, s.store, immediate, waiting)
	writers := s.write("hold")
	modelstest.Eventually(t, "the program has the lock", func() bool {
		tx, err := probe.Begin()
		if err == nil {
			_ = tx.Rollback()
		} else if !isBusy(err) {
			t.Fatal(err)
		}
		return err != nil
	})
	for i := range 20 {
		tx, err := patient.Begin()
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range []string{addShortLink, "UPDATE short_link_version SET newest = newest + 1 WHERE ? <> ''"} {
			if _, err := tx.Exec(statement, fmt.Sprint("second-", i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	want := len(writers.stop()) + 20
	for i := range 20 {
		modelstest.Eventually(t, "the program redirects", func() bool {
			status, to := follows(t, s, fmt.Sprint("second-", i))
			return status == http.StatusFound && to == "https://go.dev/second"
		})
	}
	if got := len(everything[struct{}](s, "/v1/shortlinks", 100)); got != want {
		t.Errorf("the program has %d short links, want %d", got, want)
	}
	isSound(t, patient, contents(t, patient))
}

// After kill -9, a second SQLite recovers the write-ahead log with all acknowledged writes, and checkpoints it. The
// program then goes on with the file.
func TestSecondSQLiteRecovers(t *testing.T) {
	t.Parallel()
	store := storeIn(t)
	s := Start(t, store)
	writers := s.write("kill")
	modelstest.Eventually(t, "there are writes", func() bool { return len(writers.written()) > 100 })
	s.Kill()
	acked := writers.stop()

	db := second(t, s.store, waiting)
	keys := hasShortLinks(t, db, acked)
	isSound(t, db, contents(t, db))
	if mode := texts(t, db, "PRAGMA journal_mode"); mode[0] != "wal" {
		t.Errorf("journal_mode is %s", mode)
	}
	var busy, frames, moved int
	if err := db.QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved); err != nil || busy != 0 {
		t.Errorf("wal_checkpoint: busy is %d, %v", busy, err)
	}
	again := Start(t, store)
	if got := len(everything[struct{}](again, "/v1/shortlinks", 100)); got != len(keys) {
		t.Errorf("the program has %d short links, want %d", got, len(keys))
	}
	again.isStored()
	if n := texts(t, db, "SELECT count(*) FROM short_links"); n[0] != fmt.Sprint(len(keys)+1) {
		t.Errorf("read %s short links, want %d", n, len(keys)+1)
	}
}

// A backup of a program that writes is a whole database, also to a second SQLite. The program's own file is not
// replaced while the second SQLite has it open.
func TestSecondSQLiteReadsBackups(t *testing.T) {
	t.Parallel()
	store := demoIn(t)
	s := Start(t, store)
	writers := s.write("copy")
	modelstest.Eventually(t, "there are writes", func() bool { return len(writers.written()) > 20 })
	acked := writers.written()
	backup := filepath.Join(t.TempDir(), "backup.db")
	if out, code := Command(t, []string{"backup", backup}, store); code != 0 {
		t.Fatalf("backup: %s", out)
	}
	writers.stop()
	db := second(t, backup)
	tables := contents(t, db)
	isSound(t, db, tables)
	hasShortLinks(t, db, acked)
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	sameRows(t, backup, tables)

	s.Stop()
	open := second(t, s.store)
	tx, err := open.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	texts(t, tx, "SELECT count(*) FROM links")
	out, code := Command(t, []string{"restore", backup, "--force"}, store)
	if code != 1 || !strings.Contains(out, "another program uses the database") {
		t.Errorf("restore beside the second SQLite: exit %d, %s", code, out)
	}
}
