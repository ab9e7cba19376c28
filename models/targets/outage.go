package targets

import (
	"time"

	"github.com/linkwatch/linkwatch/models"
)

// Outage is a time in which a target was down: from the first check that
// failed to the first that did not. Pausing a target ends it too.
type Outage struct {
	ID        string
	TargetSeq int64
	StartedAt models.Time
	EndedAt   models.Time // zero: it goes on
	Cause     string      // the error of the first check

	TargetID   string `gorm:"->"`
	TargetName string `gorm:"->"` // what the target is called
}

// Duration is how long it took, until now if it goes on.
func (o Outage) Duration(now time.Time) time.Duration {
	if o.EndedAt.IsZero() {
		return now.Sub(o.StartedAt.Time)
	}
	return o.EndedAt.Sub(o.StartedAt.Time)
}
