package schedule_test

import (
	"slices"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/schedule"
)

func TestRunsThatFailAreTold(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		clock := modelstest.NewClock()
		s := schedule.NewStore(db, clock.Now)
		declare(t, s, "hourly")
		modelstest.Lease(t, db, string(holder))
		for _, problem := range []string{"", "the disk is full", "", ""} {
			clock.Advance(time.Hour)
			run := mustBegin(t, s, "hourly")
			run.Error = problem
			if err := s.Finish(t.Context(), run); err != nil {
				t.Fatal(err)
			}
		}
		want := []string{"system.failed began Job hourly: the disk is full", "system.failed ended Job hourly"}
		if got := modelstest.Events(t, db); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}
