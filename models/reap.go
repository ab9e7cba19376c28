package models

import "gorm.io/gorm"

// DeleteBatch deletes up to limit rows of a table and returns their number. 0 means that none is left. key lists
// the columns of the primary key. rows is the condition, with an ORDER BY that an index serves if the order
// matters. Instances that call it concurrently delete different rows. cleanup.Remove functions use it.
func (db *DB) DeleteBatch(tx *gorm.DB, limit int, table, key, rows string, args ...any) (int64, error) {
	// MATERIALIZED: PostgreSQL must evaluate the selection only once.
	res := tx.Exec("WITH due AS MATERIALIZED (SELECT "+key+" FROM "+table+" WHERE "+rows+" LIMIT ?"+db.SkipLocked()+
		") DELETE FROM "+table+" WHERE ("+key+") IN (SELECT "+key+" FROM due)", append(args, limit)...)
	return res.RowsAffected, res.Error
}
