package models

import "gorm.io/gorm"

// DeleteBatch deletes up to limit rows of a table and returns how many it was: 0
// means that none is left. key is the columns of the table's primary key. rows is
// the condition of the rows to delete, with the ORDER BY of its index if it matters
// which come first. Instances that do this at once delete others each. A system's
// cleanup.Remove is made of it.
func (db *DB) DeleteBatch(tx *gorm.DB, limit int, table, key, rows string, args ...any) (int64, error) {
	// MATERIALIZED: PostgreSQL must not look for due ones a second time in one statement.
	res := tx.Exec("WITH due AS MATERIALIZED (SELECT "+key+" FROM "+table+" WHERE "+rows+" LIMIT ?"+db.SkipLocked()+
		") DELETE FROM "+table+" WHERE ("+key+") IN (SELECT "+key+" FROM due)", append(args, limit)...)
	return res.RowsAffected, res.Error
}
