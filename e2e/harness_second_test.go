//go:build e2e

package e2e

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/glebarez/go-sqlite"
	gormsqlite "github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// second opens an SQLite file with a second build of SQLite: another version, translated from C by another program,
// with other code for files and locks. params are parameters of the file's URI. Its locks are POSIX locks, which belong
// to the process and end when it closes any handle of the file. So until the pool is closed, this process must not open
// the file in another way.
func second(t testing.TB, file string, params ...string) *sql.DB {
	t.Helper()
	uri := "file:" + file + "?" + strings.Join(append(params, "_pragma=foreign_keys(1)"), "&")
	opened, err := gorm.Open(gormsqlite.Open(uri), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	db, err := opened.DB()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // again, if the test has closed it
	return db
}

// Parameters of second.
const (
	waiting   = "_pragma=busy_timeout(30000)" // a statement waits for the locks of others
	hasty     = "_pragma=busy_timeout(0)"     // a statement fails if others have a lock
	immediate = "_txlock=immediate"           // a transaction takes the write lock at its start
)

// isBusy reports whether the second SQLite met a lock.
func isBusy(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code()&0xff == 5 // SQLITE_BUSY
}

// querier is a pool or a transaction.
type querier interface {
	Query(query string, args ...any) (*sql.Rows, error)
}

// texts returns the first column of a query as texts.
func texts(t testing.TB, db querier, query string, args ...any) (all []string) {
	t.Helper()
	rows, err := db.Query(query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		all = append(all, one)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return all
}

// contents returns all rows of all tables with all columns, as sorted texts.
func contents(t testing.TB, db querier) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, table := range texts(t, db, "SELECT name FROM sqlite_schema WHERE type = 'table'") {
		var columns []string
		for _, name := range texts(t, db, "SELECT name FROM pragma_table_info(?)", table) {
			columns = append(columns, `quote("`+name+`")`)
		}
		all[table] = texts(t, db, fmt.Sprintf("SELECT %s FROM %q", strings.Join(columns, " || ',' || "), table))
		if n := texts(t, db, fmt.Sprintf("SELECT count(*) FROM %q", table))[0]; n != fmt.Sprint(len(all[table])) {
			t.Errorf("%s: read %d rows of %s", table, len(all[table]), n)
		}
		slices.Sort(all[table])
	}
	return all
}

// isSound fails the test if SQLite finds damage, or if the triggers have counted other rows than there are.
func isSound(t testing.TB, db querier, tables map[string][]string) {
	t.Helper()
	if found := texts(t, db, "PRAGMA integrity_check"); len(found) != 1 || found[0] != "ok" {
		t.Errorf("integrity_check: %q", found)
	}
	if found := texts(t, db, "SELECT \"table\" || ' to ' || parent FROM pragma_foreign_key_check"); len(found) > 0 {
		t.Errorf("foreign_key_check: %q", found)
	}
	for _, counted := range texts(t, db, "SELECT DISTINCT counted FROM row_counts") {
		n := texts(t, db, "SELECT sum(n) FROM row_counts WHERE counted = ?", counted)[0]
		if n != fmt.Sprint(len(tables[counted])) {
			t.Errorf("row_counts has %s rows of %s, which has %d", n, counted, len(tables[counted]))
		}
	}
}

// hasShortLinks returns the keys of all short links. The test fails if one of want is missing.
func hasShortLinks(t testing.TB, db querier, want []string) (keys []string) {
	t.Helper()
	keys = texts(t, db, "SELECT short_key FROM short_links")
	for _, key := range want {
		if !slices.Contains(keys, key) {
			t.Errorf("the short link %s is missing", key)
		}
	}
	return keys
}

// writers are clients that add short links until they are stopped.
type writers struct {
	group sync.WaitGroup
	end   chan struct{}
	mu    sync.Mutex
	keys  []string // of the acknowledged short links
}

// write starts writers. They end by themselves when the program is killed.
func (s *Server) write(prefix string) *writers {
	s.t.Helper()
	w := &writers{end: make(chan struct{})}
	for n := range 4 {
		w.group.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-w.end:
					return
				default:
				}
				key := fmt.Sprintf("%s-%d-%d", prefix, n, i)
				body := map[string]any{"long_url": "https://go.dev/" + key, "short_key": key}
				status, err := s.Try(http.MethodPost, "/v1/shortlinks", body, nil)
				if err != nil {
					return
				}
				if status != http.StatusCreated {
					s.t.Errorf("add a short link: status %d", status)
					return
				}
				w.mu.Lock()
				w.keys = append(w.keys, key)
				w.mu.Unlock()
			}
		})
	}
	return w
}

// written returns the keys that were acknowledged so far.
func (w *writers) written() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.keys)
}

// stop ends the writers and returns what was acknowledged.
func (w *writers) stop() []string {
	close(w.end)
	w.group.Wait()
	return w.keys
}
