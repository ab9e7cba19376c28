package shortlinks

import (
	"context"

	"github.com/linkwatch/linkwatch/models"
)

// Visits gathers visits off the path of the redirects.
type Visits struct{}

func newVisits() *Visits { return &Visits{} }

// add takes a visit up; it never waits.
func (v *Visits) add(link int64, who Visitor, at models.Time) {}

// WriteVisits writes down what was gathered.
func (s *Store) WriteVisits(ctx context.Context) error { panic("stub") }

// linkVisits are the visits of one link on one day.
type linkVisits struct {
	Link                                 int64
	Day                                  models.Time
	Bots, Desktop, Mobile, Tablet, Other int64
	Referrers                            map[string]int64
	Last                                 models.Time
}
