package admin_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models/audit"
	"linkwatch/models/cleanup"
	"linkwatch/models/schedule"
)

// Runs that users start are in the audit log. Refused and scheduled runs are not.
func TestRunsAreAudited(t *testing.T) {
	t.Parallel()
	a := apptest.New(t)
	a.Must(a.Jobs.Declare(t.Context(), schedule.Job{ID: cleanup.Job, Schedule: "@every 15m"}, schedule.Job{ID: "revalidation", Schedule: "@every 1m"}))
	who := a.As("root")
	who.Do("POST", "/v1/admin/jobs/revalidation/run", "").Want(http.StatusAccepted)
	who.Do("POST", "/v1/admin/cleanup/run", "").Want(http.StatusAccepted)
	who.Follow("/admin/jobs/"+cleanup.Job+"/run", nil)
	who.Follow("/admin/cleanup/run", nil)
	who.Do("POST", "/v1/admin/jobs/unknown/run", "").Problem(404, "not-found", "")
	a.Must(a.Jobs.RequestAtStart(t.Context(), "revalidation"))
	_, began, err := a.Jobs.Begin(t.Context(), a.Holder(), "revalidation", func(time.Time) time.Time { return a.Clock.Now().Add(time.Hour) })
	if a.Must(err); !began {
		t.Fatal("the job did not start")
	}
	who.Do("POST", "/v1/admin/jobs/revalidation/run", "").Problem(409, "conflict", "")

	var es []audit.Entry
	a.Must(a.DB.Read(t.Context()).Order("seq").Find(&es).Error)
	var got []string
	for _, e := range es {
		got = append(got, e.Actor+" "+e.Action+" "+e.SubjectKind+" "+e.SubjectID)
	}
	want := []string{"root job.run job revalidation", "root cleanup.run job reaper", "root job.run job reaper", "root cleanup.run job reaper"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
