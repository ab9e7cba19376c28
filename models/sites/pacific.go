package sites

import (
	"time"
	_ "time/tzdata" // for machines without a time zone database

	"linkwatch/models"
)

// resetPause is how long before and after the end of a quota day no permit of a daily
// quota is given. Clocks differ and requests take time, so Google would count such a
// request in another day than the ledger does.
const resetPause = 10 * time.Second

// pacific is the time zone in which Google's quota days end.
var pacific = loadPacific()

func loadPacific() *time.Location {
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil { // tzdata has it
		panic(err)
	}
	return zone
}

// dayEnd is the first midnight in California after t. A day has 23 hours when daylight
// saving begins, and 25 when it ends.
func dayEnd(t models.Time) models.Time {
	year, month, day := t.In(pacific).Date()
	return models.At(time.Date(year, month, day+1, 0, 0, 0, 0, pacific))
}

// pauseEnd is when the pause around the end of a quota day is over, if t is within it,
// else zero. The pause includes its start and not its end.
func pauseEnd(t models.Time) models.Time {
	reset := dayEnd(t.Add(-resetPause)) // also the one just passed
	if t.Before(reset.Add(-resetPause).Time) {
		return models.Time{}
	}
	return reset.Add(resetPause)
}
