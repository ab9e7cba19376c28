package accounts

import (
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Restored is the access that a database from a backup gives.
type Restored struct {
	Sessions int64   // ended
	Users    int64   // accounts, without deleted ones
	Tokens   []Token // that are accepted, oldest first; some may have been revoked after the backup
}

// AfterRestore ends all sessions of a database from a backup, because they may have ended since. It returns the tokens,
// for the operator to check. The schema may be older than that of this program, even without accounts.
func AfterRestore(tx *gorm.DB, now models.Time) (r Restored, err error) {
	var tables int
	if err := tx.Raw("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('users', 'sessions', 'tokens')").Scan(&tables).Error; err != nil {
		return r, fmt.Errorf("find tables of accounts: %w", err)
	}
	if tables < 3 {
		return r, nil
	}
	res := tx.Exec("DELETE FROM sessions")
	if r.Sessions = res.RowsAffected; res.Error != nil {
		return r, fmt.Errorf("end sessions: %w", res.Error)
	}
	if err := tx.Raw("SELECT count(*) FROM users WHERE deleted_at IS NULL").Scan(&r.Users).Error; err != nil {
		return r, fmt.Errorf("count accounts: %w", err)
	}
	err = tx.Raw(`SELECT tokens.*, users.username FROM tokens JOIN users ON users.seq = tokens.user_seq
		WHERE NOT users.disabled AND (tokens.expires_at IS NULL OR tokens.expires_at > ?) ORDER BY tokens.created_at, tokens.id`, now).Scan(&r.Tokens).Error
	return r, wrapError("list tokens", err)
}
