package schedule_test

import (
	"slices"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/schedule"
)

func TestRunsThatFailMakeEvents(t *testing.T) {
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

// The alert of a failed job that is no longer scheduled is closed once.
func TestRetiredJobsThatFailedAreClosed(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		clock := modelstest.NewClock()
		s := schedule.NewStore(db, clock.Now)
		declare(t, s, "backup", "hourly")
		modelstest.Lease(t, db, string(holder))
		clock.Advance(time.Hour)
		for id, problem := range map[string]string{"backup": "the disk is full", "hourly": ""} {
			run := mustBegin(t, s, id)
			run.Error = problem
			finish(t, s, run)
		}
		modelstest.Events(t, db)
		declare(t, s, "other")
		declare(t, s, "other")
		want := []string{"system.failed closed Job backup"}
		if got := modelstest.Events(t, db); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		declare(t, s, "other", "backup")
		clock.Advance(time.Hour)
		finish(t, s, mustBegin(t, s, "backup"))
		if got := modelstest.Events(t, db); len(got) > 0 || job(t, s, "backup").Runs != 2 {
			t.Errorf("declared again: %q, %+v", got, job(t, s, "backup"))
		}
	})
}

// A job that is removed while it runs stores no failure, because nothing would close it.
func TestJobThatIsRetiredDuringItsRun(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		clock := modelstest.NewClock()
		s := schedule.NewStore(db, clock.Now)
		declare(t, s, "backup")
		modelstest.Lease(t, db, string(holder))
		clock.Advance(time.Hour)
		run := mustBegin(t, s, "backup")
		declare(t, s, "other")
		run.Error = "the disk is full"
		finish(t, s, run)
		if got := modelstest.Events(t, db); len(got) > 0 {
			t.Errorf("%q", got)
		}
	})
}
