package models_test

import (
	"bytes"
	"database/sql"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sqlite "github.com/ncruces/go-sqlite3/driver"
	"gorm.io/gorm"

	"linkwatch/migrations"
	"linkwatch/models"
	"linkwatch/models/modelstest"
)

// logged is an open, migrated SQLite database and what it logs.
type logged struct {
	*models.DB
	t    *testing.T
	file string
	log  *modelstest.Log
}

func newLogged(t *testing.T) logged {
	t.Helper()
	l := logged{t: t, file: filepath.Join(t.TempDir(), "test.db"), log: modelstest.NewLog(t)}
	l.DB = l.open()
	return l
}

func (l logged) open() *models.DB {
	l.t.Helper()
	db, err := models.Open(l.t.Context(), models.SQLite, l.file, slog.New(slog.NewTextHandler(l.log, nil)))
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = db.Close() })
	if err := db.Migrate(l.t.Context()); err != nil {
		l.t.Fatal(err)
	}
	return db
}

// write stores a row of so many bytes.
func (l logged) write(size int) error {
	return l.Write(l.t.Context(), func(tx *gorm.DB) error {
		if err := tx.Exec("CREATE TABLE IF NOT EXISTS notes (content BLOB)").Error; err != nil {
			return err
		}
		return tx.Exec("INSERT INTO notes VALUES (zeroblob(?))", size).Error
	})
}

func (l logged) unavailable(what string, err error) {
	l.t.Helper()
	e, ok := errors.AsType[*models.Error](err)
	if !ok || e.Code != models.CodeUnavailable || models.FaultOf(err) != e {
		l.t.Errorf("%s: got %v", what, err)
	}
}

// What is written to a file that is no longer in its place is not acknowledged.
func TestMovedFile(t *testing.T) {
	for name, move := range map[string]func(t *testing.T, file string){
		"deleted": func(t *testing.T, file string) {
			for _, end := range []string{"", "-wal", "-shm"} {
				if err := os.Remove(file + end); err != nil {
					t.Fatal(err)
				}
			}
		},
		"replaced": func(t *testing.T, file string) {
			other := logged{t: t, file: file + ".other", log: modelstest.NewLog(t)}
			if err := other.open().Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(other.file, file); err != nil {
				t.Fatal(err)
			}
		},
		"a link to another file": func(t *testing.T, file string) {
			if err := errors.Join(os.Rename(file, file+".old"), os.Symlink(os.DevNull, file)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLogged(t)
			if err := l.write(1); err != nil {
				t.Fatal(err)
			}
			move(t, l.file)
			l.unavailable("writing", l.write(1))
			l.unavailable("writing again", l.write(1))
			l.unavailable("readiness", l.Ready(t.Context()))
			if n := l.log.Count("level=ERROR"); n != 1 {
				t.Errorf("%d errors were logged:\n%s", n, l.log)
			}
		})
	}
}

// A file that comes back has everything that was acknowledged, and nothing
// else. Until the restart nothing is stored: a reader may have opened another file.
func TestMovedFileComesBack(t *testing.T) {
	l := newLogged(t)
	if err := l.write(1); err != nil {
		t.Fatal(err)
	}
	away := l.file + ".away"
	if err := os.Rename(l.file, away); err != nil {
		t.Fatal(err)
	}
	l.unavailable("writing", l.write(1))
	if err := os.Rename(away, l.file); err != nil {
		t.Fatal(err)
	}
	l.unavailable("writing to a file that came back", l.write(1))
	l.unavailable("readiness", l.Ready(t.Context()))
	l.restart()
	l.holds(1)
	if err := l.write(1); err != nil {
		t.Error(err)
	}
}

// A write-ahead log that is deleted holds what was acknowledged: it is not lost,
// and nothing more is acknowledged.
func TestDeletedLog(t *testing.T) {
	l := newLogged(t)
	for range 10 {
		if err := l.write(1000); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(l.file + "-wal"); err != nil {
		t.Fatal(err)
	}
	l.unavailable("writing", l.write(1))
	l.unavailable("readiness", l.Ready(t.Context()))
	copied := logged{t: t, file: l.file + ".copy", log: modelstest.NewLog(t)} // as after kill -9
	content, err := os.ReadFile(l.file)
	if err == nil {
		err = os.WriteFile(copied.file, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	copied.DB = copied.open()
	copied.holds(10)
	l.restart()
	l.holds(10)
}

// A backup that replaces the file while the program runs does not change. The write-ahead
// log of the old file is not applied to it.
func TestRestoredBackup(t *testing.T) {
	for name, stop := range map[string]func(logged){
		"stopped": func(l logged) { l.restart() },
		"killed":  func(l logged) { l.DB = l.open() }, // beside the connections of before, which write no more
	} {
		t.Run(name, func(t *testing.T) {
			l := newLogged(t)
			for range 3 {
				if err := l.write(20_000); err != nil {
					t.Fatal(err)
				}
			}
			backup := l.file + ".backup"
			modelstest.Exec(t, l.DB, "SELECT 1")
			closed(t, raw(t, l.file, "VACUUM INTO '"+backup+"'"))
			for range 50 {
				if err := l.write(20_000); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Rename(backup, l.file); err != nil {
				t.Fatal(err)
			}
			l.unavailable("writing", l.write(1))
			stop(l)
			again := logged{t: t, file: l.file, log: modelstest.NewLog(t)}
			again.DB = again.open()
			again.holds(3)
			for _, e := range again.Examine(t.Context()) {
				if len(e.Problems) > 0 {
					t.Errorf("%s: %q", e.Name, e.Problems)
				}
			}
		})
	}
}

// restart closes the database and opens it again.
func (l *logged) restart() {
	l.t.Helper()
	if err := l.Close(); err != nil {
		l.t.Error(err)
	}
	l.DB = l.open()
}

// holds fails unless there are so many rows.
func (l logged) holds(want int) {
	l.t.Helper()
	var n int
	if err := l.Read(l.t.Context()).Raw("SELECT count(*) FROM notes").Scan(&n).Error; err != nil || n != want {
		l.t.Errorf("%d rows, %v; want %d", n, err, want)
	}
}

// A file that may not grow is unavailable, and stays so until it may again.
func TestFullDatabase(t *testing.T) {
	l := newLogged(t)
	pages := func(n int) {
		modelstest.Exec(t, l.DB, "PRAGMA max_page_count = 1") // as small as it may be: what it is now
		if n > 0 {
			modelstest.Exec(t, l.DB, "PRAGMA max_page_count = 100000")
		}
	}
	if err := l.write(1); err != nil {
		t.Fatal(err)
	}
	pages(0)
	l.unavailable("writing", l.write(100_000))
	l.unavailable("readiness", l.Ready(t.Context()))
	if n := l.log.Count("level=ERROR"); n != 1 {
		t.Errorf("%d errors were logged:\n%s", n, l.log)
	}
	pages(1)
	defer models.ProbeAtOnce()()
	if err := l.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	if err := l.write(100_000); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(l.file + "-probe*"); len(left) > 0 {
		t.Errorf("the probe is left: %q", left)
	}
}

// damage overwrites pages in the middle of a file that is not open.
func damage(t *testing.T, file string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	for i := len(content) / 2 / page * page; i < len(content)-page; i++ {
		content[i] = 'Z'
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// newDamaged is a database with damage in the middle of a table.
func newDamaged(t *testing.T) logged {
	t.Helper()
	l := newLogged(t)
	for range 200 { // more than the schema takes, which comes first in the file
		if err := l.write(10_000); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	damage(t, l.file)
	l.DB = l.open()
	return l
}

// A statement that finds damage, also one that only reads, ends readiness.
func TestDamagedDatabase(t *testing.T) {
	l := newDamaged(t)
	if err := l.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	var n int
	err := l.Read(t.Context()).Raw("SELECT count(*) FROM notes WHERE length(content) + hex(content) > 1").Scan(&n).Error
	if !models.DatabaseDown(err) {
		t.Errorf("got %v", err)
	}
	l.unavailable("readiness", l.Ready(t.Context()))
	if n := l.log.Count("level=ERROR"); n != 1 {
		t.Errorf("%d errors were logged:\n%s", n, l.log)
	}
}

func TestExamine(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		for _, e := range db.Examine(t.Context()) {
			if len(e.Problems) > 0 {
				t.Errorf("%s of a new database: %q", e.Name, e.Problems)
			}
		}
		if db.Engine == models.Postgres {
			modelstest.Exec(t, db, "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'targets_created'::regclass")
			wrong(t, db, "indexes", "targets_created")
		}
		modelstest.Exec(t, db, "UPDATE schema_migrations SET version = 193")
		wrong(t, db, "schema", "linkwatch migrate up")
		modelstest.Exec(t, db, "UPDATE schema_migrations SET version = 9999")
		wrong(t, db, "schema", "use a newer Linkwatch")
	})
	wrong(t, newDamaged(t).DB, "integrity", "page")
	l := newLogged(t)
	closed(t, raw(t, l.file, "PRAGMA foreign_keys = OFF; INSERT INTO check_results VALUES (77, 1, 0, 200, 1, 1, '', 0)"))
	wrong(t, l.DB, "references", "check_results")
}

// raw runs a script on a file without anything of ours, and leaves it open.
func raw(t *testing.T, file, script string) *sql.DB {
	t.Helper()
	pool, err := sqlite.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	pool.SetMaxOpenConns(1)
	if _, err := pool.Exec(script); err != nil {
		t.Fatal(err)
	}
	return pool
}

func closed(t *testing.T, pool *sql.DB) {
	t.Helper()
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
}

// wrong fails unless an examination finds a problem that says so.
func wrong(t *testing.T, db *models.DB, name, problem string) {
	t.Helper()
	for _, e := range db.Examine(t.Context()) {
		if e.Name == name && strings.Contains(strings.Join(e.Problems, "\n"), problem) {
			return
		}
	}
	t.Errorf("%s: %q is not found: %+v", name, problem, db.Examine(t.Context()))
}

// A file that is not ours is refused and stays as it is.
func TestForeignFiles(t *testing.T) {
	for name, c := range map[string]struct {
		make string // SQL; "" = a text
		want error
	}{
		"a text":                      {"", models.ErrNotSQLite},
		"notes":                       {"CREATE TABLE notes (a)", models.ErrForeign},
		"notes in WAL mode":           {"PRAGMA journal_mode = WAL; CREATE TABLE notes (a)", models.ErrForeign},
		"another's migrations":        {"CREATE TABLE schema_migrations (version BIGINT, dirty BOOL); CREATE TABLE users (a)", models.ErrForeign},
		"another's table of the name": {"CREATE TABLE schema_migrations (version VARCHAR NOT NULL); INSERT INTO schema_migrations VALUES ('1'); CREATE TABLE users (a)", models.ErrForeign},
		"a table of the same shape":   {"CREATE TABLE schema_migrations (version BIGINT NOT NULL); INSERT INTO schema_migrations VALUES (2); CREATE TABLE users (a)", models.ErrForeign},
		"an empty table of versions":  {"CREATE TABLE schema_migrations (version BIGINT NOT NULL); CREATE TABLE users (a)", models.ErrForeign},
		"only a view":                 {"CREATE VIEW v AS SELECT 1", models.ErrForeign},
		"another's application id":    {"PRAGMA application_id = 7", models.ErrForeign},
		"a table called sqlite":       {"CREATE TABLE sqlitething (a)", models.ErrForeign},
		"an empty database":           {"PRAGMA user_version = 1", nil},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "foreign.db")
			if c.make == "" {
				if err := os.WriteFile(file, []byte(strings.Repeat("These are no pages.\n", 500)), 0o600); err != nil {
					t.Fatal(err)
				}
			} else {
				closed(t, raw(t, file, c.make))
			}
			before, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			db, err := models.Open(t.Context(), models.SQLite, file, slog.New(slog.DiscardHandler))
			if !errors.Is(err, c.want) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
			if err == nil {
				if err := errors.Join(db.Migrate(t.Context()), db.Close()); err != nil {
					t.Error(err)
				}
				return
			}
			after, err := os.ReadFile(file)
			if err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file was changed, %v", err)
			}
			if all, _ := filepath.Glob(file + "*"); len(all) != 1 {
				t.Errorf("there are more files: %q", all)
			}
		})
	}
}

// Tables that are only in the write-ahead log are seen before anything is written.
func TestForeignTablesInTheLog(t *testing.T) {
	file := filepath.Join(t.TempDir(), "foreign.db")
	defer closed(t, raw(t, file, "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE notes (a)"))
	if _, err := models.Open(t.Context(), models.SQLite, file, slog.New(slog.DiscardHandler)); !errors.Is(err, models.ErrForeign) {
		t.Errorf("got %v", err)
	}
}

// A database of any version of the schema is known as ours.
func TestOwnFilesOfEveryVersion(t *testing.T) {
	file := filepath.Join(t.TempDir(), "own.db")
	for step := 0; ; step++ {
		db, err := models.Open(t.Context(), models.SQLite, file, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatalf("%d steps down: %v", max(0, step-1), err)
		}
		if step == 0 {
			err = db.Migrate(t.Context())
		} else {
			err = db.Revert(t.Context(), 1)
		}
		if closed := db.Close(); closed != nil {
			t.Fatal(closed)
		}
		if err != nil { // none is left
			if files, _ := fs.Glob(migrations.FS, "sqlite/*.up.sql"); step != len(files)+1 {
				t.Errorf("step %d: %v", step, err)
			}
			return
		}
	}
}
