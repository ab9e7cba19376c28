package lease

import (
	"context"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Claim claims the due items of a queue for an instance. take claims them in a transaction during which the lease exists.
// first returns the due time of the first unclaimed item; zero = none. next is its last result. If nothing is due, Claim
// writes nothing. Errors include ErrLost.
func Claim(ctx context.Context, db *models.DB, holder ID, now models.Time,
	first func(tx *gorm.DB) (models.Time, error), take func(tx *gorm.DB) error,
) (next models.Time, err error) {
	// Most of the time nothing is due, so no transaction is needed.
	if next, err = first(db.Read(ctx)); err != nil || next.IsZero() || next.After(now.Time) {
		return next, err
	}
	err = db.Write(ctx, func(tx *gorm.DB) error {
		if err := Hold(tx, holder); err != nil {
			return err
		}
		if err := take(tx); err != nil {
			return err
		}
		next, err = first(tx)
		return err
	})
	return next, err
}
