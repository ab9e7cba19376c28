package sites

import (
	"time"
	_ "time/tzdata" // for machines without a time zone database

	"linkwatch/models"
)

// resetPause is the time before and after the end of a quota day in which no daily quota is given out. Because of clock
// differences and latency, Google could count such a request in another day than the ledger.
const resetPause = 10 * time.Second

// pacific is the time zone of Google's quota days.
var pacific = loadPacific()

func loadPacific() *time.Location {
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil { // impossible: tzdata is embedded
		panic(err)
	}
	return zone
}

// dayEnd is the first midnight in Pacific time after t. Days have 23 or 25 hours when daylight saving time starts or ends.
func dayEnd(t models.Time) models.Time {
	year, month, day := t.In(pacific).Date()
	return models.At(time.Date(year, month, day+1, 0, 0, 0, 0, pacific))
}

// pauseEnd returns the end of the pause around the end of a quota day if t is in it, else zero. The pause includes its start
// and excludes its end.
func pauseEnd(t models.Time) models.Time {
	reset := dayEnd(t.Add(-resetPause)) // the next one, or the one just passed
	if t.Before(reset.Add(-resetPause).Time) {
		return models.Time{}
	}
	return reset.Add(resetPause)
}
