package schedule_test

import (
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/schedule"
)

// Before schema 171 a run counted when it ended. The migration counts runs that have not ended.
func TestMigrationOfStartedRuns(t *testing.T) {
	const startedRuns = 171
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		clock := modelstest.NewClock()
		s := schedule.NewStore(db, clock.Now)
		declare(t, s, "ended", "running")
		modelstest.Lease(t, db, string(holder))
		clock.Advance(time.Hour)
		finish(t, s, mustBegin(t, s, "ended"))
		mustBegin(t, s, "running")
		modelstest.MigrateBelow(t, db, startedRuns)
		var before int
		if err := db.Read(t.Context()).Raw("SELECT runs FROM scheduled_jobs WHERE id = 'running'").Scan(&before).Error; err != nil || before != 0 {
			t.Errorf("before the migration: got %d runs, %v", before, err)
		}
		if err := db.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"ended", "running"} {
			if j := job(t, s, id); j.Runs != 1 {
				t.Errorf("%s: got %d runs, want 1", id, j.Runs)
			}
		}
	})
}
