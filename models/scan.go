package models

import (
	"database/sql"
	"fmt"

	"gorm.io/gorm"
)

// Row is a row of a query. Its methods return the values of the columns from left to right.
type Row struct {
	values []any
	next   int
	err    error
}

// Each calls fn for each row of a query. It is for queries that return many rows: GORM's Scan needs three times as
// long.
func Each(query *gorm.DB, fn func(*Row)) error {
	rows, err := query.Rows()
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	r := Row{values: make([]any, len(columns))}
	pointers := make([]any, len(columns))
	for i := range pointers {
		pointers[i] = &r.values[i]
	}
	for rows.Next() {
		if err := rows.Scan(pointers...); err != nil {
			return err
		}
		r.next = 0
		fn(&r)
		if r.err != nil {
			return r.err
		}
	}
	return rows.Err()
}

func value[T any](r *Row) (v T) {
	from := r.values[r.next]
	r.next++
	v, ok := from.(T)
	if !ok && from != nil && r.err == nil {
		r.err = fmt.Errorf("column %d has a %T, want a %T", r.next, from, v)
	}
	return v
}

// Int returns an integer; 0 for NULL.
func (r *Row) Int() int { return int(value[int64](r)) }

// Int64 returns an integer; 0 for NULL.
func (r *Row) Int64() int64 { return value[int64](r) }

// Text returns a text; "" for NULL.
func (r *Row) Text() string { return value[string](r) }

// Bytes returns bytes; nil for NULL. The caller may keep them.
func (r *Row) Bytes() []byte { return value[[]byte](r) }

// Scan stores a value in a variable of another type.
func (r *Row) Scan(into sql.Scanner) {
	from := r.values[r.next]
	r.next++
	if err := into.Scan(from); err != nil && r.err == nil {
		r.err = fmt.Errorf("column %d: %w", r.next, err)
	}
}
