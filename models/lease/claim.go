package lease

import (
	"context"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Claim has an instance claim what is due in a queue at a time: take claims it, in a
// transaction throughout which the lease holds. first returns when the first free item
// is due; zero: none is. next is what it returns at last. If nothing is due, nothing
// is written. Errors include ErrLost.
func Claim(ctx context.Context, db *models.DB, holder ID, now models.Time,
	first func(tx *gorm.DB) (models.Time, error), take func(tx *gorm.DB) error,
) (next models.Time, err error) {
	// A look that changes nothing first: most of the time nothing is due.
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
