package models

import (
	"fmt"

	"gorm.io/gorm"
)

// RowCounts returns the numbers of rows of a table that the actor of tx sees, by state. It reads the table row_counts,
// which triggers of the counted table maintain, so it does not count rows. A state without rows may be missing or 0.
//
// The triggers of a migration define what the states of a table are. Tables with many private owners have more rows in
// row_counts: one per owner and state.
func RowCounts(tx *gorm.DB, table string) (map[string]int, error) {
	visible, args := Visible(tx, "row_counts")
	var rows []struct {
		State string
		N     int
	}
	err := tx.Raw("SELECT state, CAST(sum(n) AS BIGINT) AS n FROM row_counts WHERE counted = ? AND "+visible+" GROUP BY state",
		append([]any{table}, args...)...).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("count %s: %w", table, err)
	}
	counts := make(map[string]int, len(rows))
	for _, r := range rows {
		counts[r.State] = r.N
	}
	return counts, nil
}
