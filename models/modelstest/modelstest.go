// Package modelstest gives tests a store: a fresh, migrated database of each
// engine, a clock that stands still, and a count of the queries made.
package modelstest

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver that makes and drops the test databases
	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/lease"
)

// New is a fresh SQLite store in a folder of the test's own.
func New(t testing.TB) *models.DB {
	t.Helper()
	file := filepath.Join(t.TempDir(), "test.db")
	migrated, err := template()
	if err == nil {
		err = os.WriteFile(file, migrated, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return open(t, models.SQLite, file, false)
}

// template is a new SQLite database with the current schema. To copy it is much
// faster than to migrate one for each test.
var template = sync.OnceValues(func() (database []byte, err error) {
	dir, err := os.MkdirTemp("", "linkwatch-template-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "template.db")
	db, err := models.Open(context.Background(), models.SQLite, file, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	if err := errors.Join(db.Migrate(), db.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
})

// Each runs a test on every engine: SQLite always, PostgreSQL where
// TEST_POSTGRES_URL names a server whose user may create databases.
func Each(t *testing.T, test func(t *testing.T, db *models.DB)) {
	t.Helper()
	t.Run(models.SQLite, func(t *testing.T) { test(t, New(t)) })
	if server := os.Getenv("TEST_POSTGRES_URL"); server != "" {
		t.Run(models.Postgres, func(t *testing.T) {
			test(t, open(t, models.Postgres, newDatabase(t, server), true))
		})
	} else if os.Getenv("CI") == "true" {
		t.Error("TEST_POSTGRES_URL is not set: with CI=true the suite runs on both engines")
	}
}

// EachEmpty is Each with a database that has no schema yet.
func EachEmpty(t *testing.T, test func(t *testing.T, db *models.DB)) {
	t.Helper()
	t.Run(models.SQLite, func(t *testing.T) {
		test(t, open(t, models.SQLite, filepath.Join(t.TempDir(), "test.db"), false))
	})
	if server := os.Getenv("TEST_POSTGRES_URL"); server != "" {
		t.Run(models.Postgres, func(t *testing.T) {
			test(t, open(t, models.Postgres, newDatabase(t, server), false))
		})
	}
}

func open(t testing.TB, engine, url string, migrate bool) *models.DB {
	t.Helper()
	db, err := models.Open(context.Background(), engine, url, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error("closing the store:", err)
		}
	})
	if migrate {
		if err := db.Migrate(); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// newDatabase makes a database of its own for the test and drops it after.
func newDatabase(t testing.TB, server string) string {
	t.Helper()
	admin, err := sql.Open("pgx", server)
	if err != nil {
		t.Fatal(err)
	}
	name := "linkwatch_test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	if _, err := admin.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal("TEST_POSTGRES_URL is set, but no database can be made there: ", err)
	}
	t.Cleanup(func() {
		if _, err := admin.Exec("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Error(err)
		}
		_ = admin.Close()
	})
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

// Exec changes the database past the stores, as to break what they rely on.
func Exec(t testing.TB, db *models.DB, sql string, args ...any) {
	t.Helper()
	err := db.Write(context.Background(), func(tx *gorm.DB) error { return tx.Exec(sql, args...).Error })
	if err != nil {
		t.Fatal(err)
	}
}

// Lease is the lease of an instance of that name, which begins with the first
// call. Nothing renews it.
func Lease(t testing.TB, db *models.DB, name string) lease.ID {
	t.Helper()
	Exec(t, db, "INSERT INTO instances (id, started_at, heartbeat_at) VALUES (?, 1, 1) ON CONFLICT DO NOTHING", name)
	return lease.ID(name)
}

// Hold keeps a table from being used until release is called: by writers on
// SQLite, which lets others read meanwhile, by everybody on PostgreSQL.
func Hold(t testing.TB, db *models.DB, table string) (release func()) {
	t.Helper()
	held, let, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	undo := errors.New("nothing is to be kept")
	go func() {
		done <- db.Write(context.Background(), func(tx *gorm.DB) error {
			if db.Engine == models.Postgres {
				if err := tx.Exec("LOCK TABLE " + table + " IN ACCESS EXCLUSIVE MODE").Error; err != nil {
					return err
				}
			}
			close(held)
			<-let
			return undo
		})
	}()
	select {
	case <-held:
	case err := <-done:
		t.Fatal(err)
	}
	return func() {
		close(let)
		if err := <-done; !errors.Is(err, undo) {
			t.Error(err)
		}
	}
}

// Clock stands still until it is moved. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock starts at an ordinary moment.
func NewClock() *Clock {
	return &Clock{now: time.Date(2026, 3, 24, 12, 0, 0, 0, time.UTC)}
}

// Now is the clock's time. The method value is a models.Clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Queries counts the statements that are sent through db from now on.
func Queries(t testing.TB, db *models.DB) *atomic.Int64 {
	t.Helper()
	var n atomic.Int64
	observe(t, db, func(*gorm.DB) { n.Add(1) })
	return &n
}

// Statement is one statement as it was sent.
type Statement struct {
	SQL  string
	Vars []any
}

// Statements gathers what is sent through db until stop is called, which
// answers it.
func Statements(t testing.TB, db *models.DB) (stop func() []Statement) {
	t.Helper()
	var mu sync.Mutex
	var sent []Statement
	stopped := false
	observe(t, db, func(g *gorm.DB) {
		mu.Lock()
		defer mu.Unlock()
		if sql := g.Statement.SQL.String(); !stopped && sql != "" {
			sent = append(sent, Statement{sql, slices.Clone(g.Statement.Vars)})
		}
	})
	return func() []Statement {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
		return sent
	}
}

// Sent is what do sends through db. It fails the test if do fails or sends nothing.
func Sent(t testing.TB, db *models.DB, do func() error) []Statement {
	t.Helper()
	stop := Statements(t, db)
	if err := do(); err != nil {
		t.Fatal(err)
	}
	sent := stop()
	if len(sent) == 0 {
		t.Error("no statement was seen")
	}
	return sent
}

// Plan is how SQLite would run a statement, step by step. A plain INSERT has none.
func Plan(t testing.TB, db *models.DB, s Statement) (steps []string) {
	t.Helper()
	if strings.HasPrefix(s.SQL, "INSERT") {
		return nil
	}
	var rows []struct{ Detail string }
	// On the writer: the readers do not even explain a statement that changes something.
	err := db.Write(context.Background(), func(tx *gorm.DB) error {
		return tx.Raw("EXPLAIN QUERY PLAN "+s.SQL, s.Vars...).Scan(&rows).Error
	})
	if err != nil {
		t.Fatalf("%s: %v", s.SQL, err)
	}
	for _, r := range rows {
		steps = append(steps, r.Detail)
	}
	return steps
}

// ReadsAll says whether a step of a plan reads a whole table.
func ReadsAll(step string) bool {
	return strings.HasPrefix(step, "SCAN ") && !strings.Contains(step, "INDEX") &&
		!strings.Contains(step, "CONSTANT ROW") && !strings.Contains(step, "VIRTUAL TABLE")
}

// Sorts says whether a step of a plan sorts rows.
func Sorts(step string) bool { return strings.Contains(step, "TEMP B-TREE") }

// AfterRead calls do after each statement outside of a transaction from now on.
// do may write to the store. It is for SQLite: on PostgreSQL transactions use
// the same handle.
func AfterRead(t testing.TB, db *models.DB, do func()) {
	t.Helper()
	if err := register(db.Read(context.Background()), func(*gorm.DB) { do() }); err != nil {
		t.Fatal(err)
	}
}

// observe calls see after each statement from now on.
func observe(t testing.TB, db *models.DB, see func(*gorm.DB)) {
	t.Helper()
	register := func(g *gorm.DB) error { return register(g, see) }
	err := register(db.Read(context.Background()))
	if err == nil && db.Engine == models.SQLite { // on PostgreSQL both are one handle
		err = db.Write(context.Background(), register)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func register(g *gorm.DB, see func(*gorm.DB)) error {
	name := "modelstest:" + uuid.NewString()
	cb := g.Callback()
	return errors.Join(
		cb.Query().After("gorm:query").Register(name, see), cb.Row().After("gorm:row").Register(name, see),
		cb.Raw().After("gorm:raw").Register(name, see), cb.Create().After("gorm:create").Register(name, see),
		cb.Update().After("gorm:update").Register(name, see), cb.Delete().After("gorm:delete").Register(name, see),
	)
}
