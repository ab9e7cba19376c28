package models_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
)

// BenchmarkSQLite measures what the driver does most. Each operation is a
// transaction of 500 rows: with a statement for each of them, or one for all.
func BenchmarkSQLite(b *testing.B) {
	const rows = 500
	db := modelstest.New(b)
	names, kinds, changes := make([]string, 25), make([]string, 25), make([]string, 25)
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i)
		kinds[i], changes[i] = names[i]+" bigint", names[i]+" = r."+names[i]
	}
	columns := strings.Join(names, ", ")
	for _, table := range []string{
		"TABLE narrow (seq INTEGER PRIMARY KEY, id TEXT UNIQUE, title TEXT)",
		"TABLE log (seq INTEGER PRIMARY KEY, narrow_seq INTEGER)",
		"TABLE wide (" + columns + ", PRIMARY KEY (c0))",
		"VIRTUAL TABLE words USING fts5 (text, content = '', contentless_delete = 1, detail = none)",
	} {
		modelstest.Exec(b, db, "CREATE "+table)
	}
	used := 0 // numbers that no other row has
	each := func(run func(n int) error) error {
		for range rows {
			used++
			if err := run(used); err != nil {
				return err
			}
		}
		return nil
	}
	batch := func(from int) *models.Rows {
		r := models.NewRows(strings.Join(kinds, ", "))
		values := make([]any, len(names))
		for n := range rows {
			for i := range values {
				values[i] = from + n + i*1_000_000
			}
			r.Add(values...)
		}
		return r
	}
	insert := func(tx *gorm.DB) error {
		return each(func(n int) error {
			return tx.Exec("INSERT INTO narrow (id, title) VALUES (?, ?)", fmt.Sprintf("id-%d", n), "A title of some words").Error
		})
	}
	insertBatch := func(tx *gorm.DB) error {
		from := used
		used += rows
		return batch(from).Exec(tx, "INSERT INTO wide ("+columns+") SELECT "+columns+" FROM {rows} AS r").Error
	}
	if err := db.Write(b.Context(), func(tx *gorm.DB) error { return errors.Join(insertBatch(tx), insert(tx)) }); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		run  func(tx *gorm.DB) error
	}{
		{"INSERT", insert},
		{"UPDATE and INSERT", func(tx *gorm.DB) error {
			return each(func(n int) error {
				if err := tx.Exec("UPDATE narrow SET title = ? WHERE seq = ?", fmt.Sprintf("Title %d", n), 1+n%rows).Error; err != nil {
					return err
				}
				return tx.Exec("INSERT INTO log (narrow_seq) VALUES (?)", n).Error
			})
		}},
		{"SELECT", func(tx *gorm.DB) error {
			var row struct {
				Seq       int64
				ID, Title string
			}
			return each(func(n int) error { return tx.Raw("SELECT * FROM narrow WHERE seq = ?", 1+n%rows).Scan(&row).Error })
		}},
		{"INSERT of 500 rows", insertBatch},
		{"UPDATE of 500 rows", func(tx *gorm.DB) error { // the first ones
			return batch(0).Exec(tx, "UPDATE wide SET "+strings.Join(changes, ", ")+" FROM {rows} AS r WHERE wide.c0 = r.c0").Error
		}},
		{"search index", func(tx *gorm.DB) error {
			return each(func(n int) error {
				return tx.Exec("INSERT INTO words (text) VALUES (?)", fmt.Sprintf("wor%d ord%d rds%d of%d", n%997, n%613, n%331, n)).Error
			})
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if err := db.Write(b.Context(), c.run); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*rows), "µs/row")
		})
	}
}
