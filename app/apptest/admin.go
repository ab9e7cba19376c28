package apptest

import (
	"time"

	"linkwatch/models"
	"linkwatch/models/cleanup"
	"linkwatch/models/schedule"
)

// DeclareReaper schedules the reaper, as the program does.
func (s *Server) DeclareReaper() {
	s.Helper()
	s.Must(s.Jobs.Declare(s.Context(), schedule.Job{ID: cleanup.Job, Schedule: "@every 15m0s", NextRunAt: models.At(time.Now().Add(time.Hour))}))
}

// DeclareReaper schedules the reaper, as the program does.
func (s *Site) DeclareReaper() {
	s.Helper()
	s.Must(s.Jobs.Declare(s.Context(), schedule.Job{ID: cleanup.Job, Schedule: "@every 15m0s", NextRunAt: models.At(s.Clock.Now().Add(15 * time.Minute))}))
}
