package models_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	sqlite "github.com/ncruces/go-sqlite3/driver"
	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
)

func openSQLite(t *testing.T, file string) *models.DB {
	t.Helper()
	db, err := models.Open(t.Context(), models.SQLite, file, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db
}

// A write waits while another program writes to the file, but no longer than
// its context lasts. What was given up is not stored.
func TestWriteWhileAnotherProgramDoes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "two.db")
	one, other := openSQLite(t, file), openSQLite(t, file)
	modelstest.Exec(t, one, "CREATE TABLE seen (n INTEGER)")
	see := func(ctx context.Context) error {
		return other.Write(ctx, func(tx *gorm.DB) error { return tx.Exec("INSERT INTO seen VALUES (1)").Error })
	}
	waited := make(chan error, 1)
	err := one.Write(t.Context(), func(*gorm.DB) error {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := see(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		go func() { waited <- see(t.Context()) }()
		return nil
	})
	if err := errors.Join(err, <-waited); err != nil {
		t.Error(err)
	}
	var n int
	if err := one.Read(t.Context()).Raw("SELECT count(*) FROM seen").Scan(&n).Error; err != nil || n != 1 {
		t.Errorf("%d rows, %v", n, err)
	}
}

// A statement ends with its context, and its error is the context's.
func TestStatementEndsWithItsContext(t *testing.T) {
	const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n WHERE i < 0"
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		var n int
		for name, run := range map[string]func(context.Context) error{
			"read": func(ctx context.Context) error { return db.Read(ctx).Raw(endless).Scan(&n).Error },
			"row":  func(ctx context.Context) error { return db.Read(ctx).Raw(endless).Row().Scan(&n) },
			"write": func(ctx context.Context) error {
				return db.Write(ctx, func(tx *gorm.DB) error { return tx.Exec(endless).Error })
			},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			if err := run(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s after its time: %v", name, err)
			}
			cancel()
			ctx, cancel = context.WithCancel(t.Context())
			time.AfterFunc(50*time.Millisecond, cancel)
			if err := run(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("%s that is cancelled: %v", name, err)
			}
		}
		modelstest.Exec(t, db, "SELECT 1") // the connections still work
	})
}

// Violations of different constraints have different errors.
func TestConstraintErrors(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		modelstest.Exec(t, db, "CREATE TABLE parents (id INTEGER PRIMARY KEY, name TEXT UNIQUE, age INTEGER NOT NULL CHECK (age >= 0))")
		modelstest.Exec(t, db, "CREATE TABLE children (parent INTEGER REFERENCES parents)")
		modelstest.Exec(t, db, "INSERT INTO parents VALUES (1, 'a', 1)")
		for sql, want := range map[string]error{
			"INSERT INTO parents VALUES (1, 'b', 1)":    gorm.ErrDuplicatedKey,
			"INSERT INTO parents VALUES (2, 'a', 1)":    gorm.ErrDuplicatedKey,
			"INSERT INTO children VALUES (3)":           gorm.ErrForeignKeyViolated,
			"INSERT INTO parents VALUES (4, 'd', -1)":   nil, // another error
			"INSERT INTO parents VALUES (5, 'e', NULL)": nil,
		} {
			err := db.Write(t.Context(), func(tx *gorm.DB) error { return tx.Exec(sql).Error })
			for _, rule := range []error{gorm.ErrDuplicatedKey, gorm.ErrForeignKeyViolated} {
				if err == nil || models.DatabaseDown(err) || errors.Is(err, rule) != errors.Is(want, rule) {
					t.Errorf("%s: %v, want %v", sql, err, want)
				}
			}
		}
	})
}

// Values come back as they were stored, among them text that looks like a
// time, a blob without bytes and no blob.
func TestSQLiteValues(t *testing.T) {
	db := modelstest.New(t)
	modelstest.Exec(t, db, "CREATE TABLE kept (flag INTEGER, moment INTEGER, content BLOB, empty BLOB, missing BLOB)")
	moment := models.At(time.UnixMicro(7))
	modelstest.Exec(t, db, "INSERT INTO kept VALUES (?, ?, ?, ?, ?)", true, moment, []byte("a\x00b"), []byte{}, []byte(nil))
	var got struct {
		Flag                    bool
		Moment                  models.Time
		Content, Empty, Missing []byte
	}
	if err := db.Read(t.Context()).Raw("SELECT * FROM kept").Scan(&got).Error; err != nil {
		t.Fatal(err)
	}
	if !got.Flag || got.Moment != moment || string(got.Content) != "a\x00b" || got.Empty == nil || got.Missing != nil {
		t.Errorf("got %+v", got)
	}
	const like = "2026-03-24T12:00:00Z"
	var text any
	if err := db.Read(t.Context()).Raw("SELECT ? || ''", like).Row().Scan(&text); err != nil || text != like {
		t.Errorf("got %T %v, %v", text, text, err)
	}
}

// A file has the name that is in DATABASE_URL. Only its owner can read it and the files beside it, whatever mode it had.
func TestSQLiteFiles(t *testing.T) {
	for _, name := range []string{"plain.db", "with space.db", "100%.db", "%20.db", "a#b&c=d.db", "what?.db", "a?mode=memory", "ü.db"} {
		for _, mode := range []fs.FileMode{0o600, 0o640} {
			file := filepath.Join(t.TempDir(), name)
			if mode != 0o600 {
				if err := errors.Join(os.WriteFile(file, nil, mode), os.Chmod(file, mode)); err != nil {
					t.Fatal(err)
				}
			}
			openSQLite(t, file)
			for _, end := range []string{"", "-wal", "-shm"} {
				if info, err := os.Stat(file + end); err != nil || info.Size() == 0 || info.Mode() != 0o600 {
					t.Errorf("%s%s with mode %v before: got %v, %v", name, end, mode, info, err)
				}
			}
		}
	}
}

// A connection compiles a statement once, also where two run at a time, and
// keeps a limited number of them.
func TestStatementsAreKept(t *testing.T) {
	pool, err := modelstest.New(t).Read(t.Context()).DB()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // the pool is closed after it, with its errors
	compiled := func() (n int) {
		err := conn.Raw(func(c any) error {
			for range c.(sqlite.Conn).Raw().Stmts() {
				n++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	query := func(sql string, inside func()) {
		rows, err := conn.QueryContext(t.Context(), sql, 7)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		var got int
		for rows.Next() {
			if err := rows.Scan(&got); err != nil {
				t.Fatal(err)
			}
			inside()
		}
		if err := rows.Err(); err != nil || got != 7 {
			t.Errorf("%s: %d, %v", sql, got, err)
		}
	}
	nothing := func() {}
	before := compiled()
	for range 3 {
		query("SELECT ?", nothing)
	}
	query("SELECT ?", func() { query("SELECT ?", nothing) })
	if n := compiled() - before; n != 1 {
		t.Errorf("%d statements are kept of one", n)
	}
	for i := range 1000 {
		query(fmt.Sprintf("SELECT ? + %d - %[1]d", i), nothing)
	}
	if n := compiled(); n < 100 || n > 256 {
		t.Errorf("%d statements are kept of 1,000", n)
	}
}
