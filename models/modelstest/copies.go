package modelstest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"linkwatch/models"
)

// Copies inserts n copies of the newest row of a table with a column seq. set has the SQL of the columns that differ, in
// which i is the number of the copy, from 1.
func Copies(t testing.TB, db *models.DB, table string, n int, set map[string]string) {
	t.Helper()
	columns := slices.DeleteFunc(columnsOf(t, db, table), func(c string) bool { return c == "seq" })
	values := slices.Clone(columns)
	for i, c := range columns {
		if sql, ok := set[c]; ok {
			values[i] = sql
		}
	}
	Exec(t, db, "INSERT INTO "+table+" ("+strings.Join(columns, ", ")+") WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT "+
		strings.Join(values, ", ")+" FROM "+table+" CROSS JOIN n WHERE seq = (SELECT max(seq) FROM "+table+") ORDER BY i", n)
}

func columnsOf(t testing.TB, db *models.DB, table string) []string {
	t.Helper()
	rows, err := db.Read(context.Background()).Raw("SELECT * FROM " + table + " LIMIT 0").Rows()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err has the error
	columns, err := rows.Columns()
	if err = errors.Join(err, rows.Err()); err != nil {
		t.Fatal(err)
	}
	return columns
}

// StopsAndContinues checks the search for a text that only the last row of a list has. The list must have more than
// models.MaxSearched rows, and at most twice as many.
func StopsAndContinues[T any](t testing.TB, list func(after models.Cursor) (models.Slice[T], error)) {
	t.Helper()
	first, err := list(models.Cursor{})
	if err != nil || len(first.Items) > 0 || !first.Stopped || !first.More() {
		t.Fatalf("first part: got %d items, stopped %v, more %v, error %v", len(first.Items), first.Stopped, first.More(), err)
	}
	second, err := list(first.Next)
	if err != nil || len(second.Items) != 1 || second.Stopped || second.More() {
		t.Errorf("second part: got %d items, stopped %v, more %v, error %v", len(second.Items), second.Stopped, second.More(), err)
	}
}

// Digits is the SQL of 16 bytes that differ in each copy; see Copies.
func Digits(db *models.DB) string {
	if db.Engine == models.Postgres {
		return "decode(lpad(to_hex(i), 32, '0'), 'hex')"
	}
	return "unhex(printf('%032x', i))"
}

// Last is the SQL of a text that only the copy number n has; the others have the value of another SQL.
func Last(n int, text, others string) string {
	return fmt.Sprintf("CASE WHEN i = %d THEN '%s' ELSE %s END", n, text, others)
}
