package modelstest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"linkwatch/models"
)

// Queries counts the statements that db runs after the call.
func Queries(t testing.TB, db *models.DB) *atomic.Int64 {
	t.Helper()
	var n atomic.Int64
	observe(t, db, func(*gorm.DB) { n.Add(1) })
	return &n
}

// Statement is one statement with its arguments.
type Statement struct {
	SQL  string
	Vars []any
}

// Statements records the statements that db runs until stop is called. stop returns them.
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

// Sent returns the statements that do runs. It fails the test if do fails or runs none.
func Sent(t testing.TB, db *models.DB, do func() error) []Statement {
	t.Helper()
	stop := Statements(t, db)
	if err := do(); err != nil {
		t.Fatal(err)
	}
	sent := stop()
	if len(sent) == 0 {
		t.Error("no statements were run")
	}
	return sent
}

// Plan returns the steps of the SQLite query plan of a statement, or none for an INSERT.
func Plan(t testing.TB, db *models.DB, s Statement) (steps []string) {
	t.Helper()
	if strings.HasPrefix(s.SQL, "INSERT") {
		return nil
	}
	var rows []struct{ Detail string }
	// Readers cannot explain a statement that writes.
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

// WholeTable fails the test if a statement that do runs scans a whole table, on either engine.
// It updates the statistics of the table first; the table must have many rows.
func WholeTable(t testing.TB, db *models.DB, table string, do func() error) {
	t.Helper()
	Exec(t, db, "ANALYZE "+table)
	explain, whole := "EXPLAIN QUERY PLAN ", "detail:SCAN "+table+" id:"
	if db.Engine == models.Postgres {
		explain, whole = "EXPLAIN ", "Seq Scan on "+table+" "
	}
	for _, s := range Sent(t, db, do) {
		var steps []map[string]any
		if err := db.Read(context.Background()).Raw(explain+s.SQL, s.Vars...).Scan(&steps).Error; err != nil {
			t.Fatal(err)
		}
		if plan := fmt.Sprint(steps); strings.Contains(plan, whole) {
			t.Errorf("%s\n%s", s.SQL, strings.ReplaceAll(plan, "] map[", "]\nmap["))
		}
	}
}

// ReadsAll reports whether a step of a plan scans a whole table. The steps of a subquery are in the plan, too, so its scan
// is not one.
func ReadsAll(step string) bool {
	return strings.HasPrefix(step, "SCAN ") && !strings.Contains(step, "INDEX") && !strings.HasPrefix(step, "SCAN (subquery") &&
		!strings.Contains(step, "CONSTANT ROW") && !strings.Contains(step, "VIRTUAL TABLE")
}

// Sorts reports whether a step of a plan sorts rows.
func Sorts(step string) bool { return strings.Contains(step, "TEMP B-TREE") }

// AfterRead calls do after each later statement outside of a transaction. do may write to
// the database. It is only for SQLite: on PostgreSQL transactions use the same handle.
func AfterRead(t testing.TB, db *models.DB, do func()) {
	t.Helper()
	if err := register(db.Read(context.Background()), func(*gorm.DB) { do() }); err != nil {
		t.Fatal(err)
	}
}

// observe calls see after each later statement.
func observe(t testing.TB, db *models.DB, see func(*gorm.DB)) {
	t.Helper()
	register := func(g *gorm.DB) error { return register(g, see) }
	err := register(db.Read(context.Background()))
	if db.Engine == models.SQLite { // on PostgreSQL, Write uses the same handle as Read
		err = errors.Join(err, db.Write(context.Background(), register))
	} else {
		err = errors.Join(err, register(db.Urgent().Read(context.Background())), register(db.Leases().Read(context.Background())))
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
