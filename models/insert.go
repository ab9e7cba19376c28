package models

import (
	"fmt"
	"reflect"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// insertBatch is how many rows one INSERT of PostgreSQL writes.
const insertBatch = 500

// Insert stores rows, and passes over those that break a uniqueness. It gives
// them no keys back.
//
// On SQLite each row is a statement of its own, prepared once: a statement of
// many rows keeps a journal to undo half of itself, and the driver binds
// arguments in a time that grows with the square of their number. That is
// twice as slow for a large batch. On PostgreSQL round trips cost more.
func Insert[T any](tx *gorm.DB, rows []T) error {
	if len(rows) == 0 {
		return nil
	}
	if tx.Name() != SQLite {
		return tx.Clauses(clause.OnConflict{DoNothing: true}).CreateInBatches(rows, insertBatch).Error
	}
	stmt := &gorm.Statement{DB: tx}
	if err := stmt.Parse(new(T)); err != nil {
		return fmt.Errorf("reading the columns of %T: %w", rows[0], err)
	}
	reflected := reflect.ValueOf(rows)
	var columns []string
	for _, f := range stmt.Schema.Fields {
		if _, zero := f.ValueOf(tx.Statement.Context, reflected.Index(0)); f.DBName != "" && !(f.AutoIncrement && zero) {
			columns = append(columns, f.DBName)
		}
	}
	sql := "INSERT INTO " + stmt.Table + " (" + strings.Join(columns, ", ") + ") VALUES (?" +
		strings.Repeat(", ?", len(columns)-1) + ") ON CONFLICT DO NOTHING"
	args := make([]any, len(columns))
	for i := range rows {
		for j, name := range columns {
			args[j], _ = stmt.Schema.FieldsByDBName[name].ValueOf(tx.Statement.Context, reflected.Index(i))
		}
		if _, err := tx.Statement.ConnPool.ExecContext(tx.Statement.Context, sql, args...); err != nil {
			return err
		}
	}
	return nil
}
