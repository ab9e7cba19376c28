package admin_test

import (
	"net/http"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/schedule"
)

func TestJobsPages(t *testing.T) {
	s := apptest.New(t)
	next := models.At(s.Clock.Now().Add(time.Hour))
	if err := s.Jobs.Declare(t.Context(), schedule.Job{ID: "revalidation", Schedule: "@every 1h", NextRunAt: next}); err != nil {
		t.Fatal(err)
	}
	a := s.Get("/admin/jobs")
	apptest.WantText(t, a, "tbody", "revalidation every hour never in 1 h")
	apptest.WantCount(t, a, `tbody [title="@every 1h"]`, 1)
	a = s.Submit(a, "tbody form")
	apptest.WantText(t, a, ".flash", "The job will start in a few seconds.")
	apptest.WantText(t, s.Get("/admin/jobs/revalidation"), ".empty", "No runs yet")
	apptest.WantStatus(t, s.Get("/admin/jobs/revalidation?page_token=%21"), http.StatusBadRequest)
	apptest.WantStatus(t, s.Post("/admin/jobs/none/run", nil), http.StatusNotFound)
	if got := s.Get("/admin").Header.Get("Location"); got != "/admin/jobs" {
		t.Errorf("/admin: got location %q", got)
	}
}
