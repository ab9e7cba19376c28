package modelstest

import (
	"context"
	"testing"

	"gorm.io/gorm"

	"linkwatch/models"
)

// counted has the tables whose rows row_counts counts, with the expressions of their columns.
var counted = []struct{ table, block, privateTo, state string }{
	{"links", "seq >> 12", "private_to", "CASE WHEN expired_at IS NULL THEN health ELSE 'expired ' || health END"},
	{"tags", "0", "''", "''"},
	{"targets", "0", "private_to", "CASE WHEN deleted_at IS NOT NULL THEN 'deleted' WHEN paused THEN 'paused' ELSE state END"},
	{"jobs", "0", "(SELECT s.private_to FROM sources AS s WHERE s.seq = jobs.source_seq)", "CASE WHEN deleted_at IS NULL THEN status ELSE 'deleted' END"},
}

// checkRowCounts compares row_counts with the rows of a database at the end of a test. A database without the current
// schema, or that does not respond any more, is not checked.
func checkRowCounts(t testing.TB, db *models.DB) {
	t.Helper()
	// In a transaction, because AfterRead observes the others.
	_ = db.Write(context.Background(), func(tx *gorm.DB) error {
		for _, c := range counted {
			var wrong []struct {
				Block            int64
				PrivateTo, State string
				N                int
			}
			err := tx.Raw(`SELECT block, private_to, state, CAST(sum(n) AS BIGINT) AS n FROM (
					SELECT block, private_to, state, n FROM row_counts WHERE counted = ?
					UNION ALL SELECT `+c.block+`, `+c.privateTo+`, `+c.state+`, -1 FROM `+c.table+`) AS both_sides
				GROUP BY block, private_to, state HAVING sum(n) <> 0`, c.table).Scan(&wrong).Error
			if err != nil {
				return err
			}
			if len(wrong) > 0 {
				t.Errorf("row_counts differs from the rows of %s: %+v", c.table, wrong)
			}
		}
		return nil
	})
}
