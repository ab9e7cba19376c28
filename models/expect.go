package models

import (
	"context"
	"database/sql"
	"sync/atomic"

	"gorm.io/gorm"
)

// expectation is what the next transaction of a request expects.
type expectation struct {
	check func(ctx context.Context) error
	done  atomic.Bool // a transaction that met it was committed
}

type (
	expectKey struct{}
	insideKey struct{}
)

// Expect returns a context whose first transaction calls check before anything else. If check returns an error, nothing
// is stored and the transaction returns that error. The context of check reads (DB.Read) inside the transaction. On
// PostgreSQL, what check has read does not change until the commit: otherwise the transaction runs again.
func Expect(ctx context.Context, check func(ctx context.Context) error) context.Context {
	return context.WithValue(ctx, expectKey{}, &expectation{check: check})
}

// expected returns the expectation of a context that no transaction has met yet; nil = none.
func expected(ctx context.Context) *expectation {
	if e, _ := ctx.Value(expectKey{}).(*expectation); e != nil && !e.done.Load() {
		return e
	}
	return nil
}

// before returns fn with the check in front of it.
func (e *expectation) before(ctx context.Context, fn func(tx *gorm.DB) error) func(tx *gorm.DB) error {
	if e == nil {
		return fn
	}
	return func(tx *gorm.DB) error {
		if err := e.check(context.WithValue(ctx, insideKey{}, tx)); err != nil {
			return err
		}
		return fn(tx)
	}
}

// met notes that the transaction was committed.
func (e *expectation) met() {
	if e != nil {
		e.done.Store(true)
	}
}

// options returns the options of the transaction. With a snapshot, PostgreSQL refuses to change a row that another
// transaction has changed since check read it.
func (e *expectation) options(engine string) []*sql.TxOptions {
	if e == nil || engine != Postgres {
		return nil
	}
	return []*sql.TxOptions{{Isolation: sql.LevelRepeatableRead}}
}

// inside returns the transaction whose check has the context; nil = none.
func inside(ctx context.Context) *gorm.DB {
	tx, _ := ctx.Value(insideKey{}).(*gorm.DB)
	return tx
}
