package models_test

import (
	"testing"

	"linkwatch/models"
	"linkwatch/models/modelstest"
)

// Each returns the values of all columns, NULL as zero values, and reports a column of another type.
func TestEach(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		tx := db.Read(t.Context())
		query := func() *models.Rows {
			rows := models.NewRows("n bigint, name text, data bytes, at bigint")
			rows.Add(1, "one", []byte{0, 255}, models.Time{})
			rows.Add(nil, nil, nil, int64(1_000_000))
			return rows
		}
		const sql = "SELECT n, name, data, at FROM {rows} AS r ORDER BY name"
		type row struct {
			n    int
			name string
			data string
			at   int64
		}
		got := map[row]bool{}
		err := models.Each(query().Raw(tx, sql), func(r *models.Row) {
			g := row{n: r.Int(), name: r.Text(), data: string(r.Bytes())}
			var at models.Time
			r.Scan(&at)
			if !at.IsZero() {
				g.at = at.Unix()
			}
			got[g] = true
		})
		if err != nil || len(got) != 2 || !got[row{1, "one", "\x00\xff", 0}] || !got[row{0, "", "", 1}] {
			t.Errorf("got %v, %v", got, err)
		}
		err = models.Each(query().Raw(tx, sql), func(r *models.Row) { _ = r.Text() })
		if err == nil {
			t.Error("a number was read as a text")
		}
		if err := models.Each(tx.Raw("SELECT no_such_column"), func(*models.Row) {}); err == nil {
			t.Error("no error for an invalid query")
		}
	})
}
