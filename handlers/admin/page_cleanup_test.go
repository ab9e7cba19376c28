package admin_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models/cleanup"
)

func TestCleanupPage(t *testing.T) {
	s := apptest.New(t)
	declareReaper(s)
	a := s.Get("/admin/cleanup")
	apptest.WantText(t, a, ".state", "Not run yet every 15 minutes, next run in 15 min No short links are waiting to be deleted.")
	apptest.WantText(t, a, ".empty", "No runs yet")
	apptest.WantCount(t, a, "tbody tr", len(kinds))
	apptest.WantText(t, a, `nav [aria-current="page"][href="/admin/cleanup"]`, "Cleanup")
	apptest.WantCount(t, a, ".run-now button[disabled]", 0)

	a = s.Submit(a, ".run-now")
	apptest.WantText(t, a, ".flash", "The job will start in a few seconds.")
	apptest.WantText(t, a, "#why-not", "Starts in a few seconds.")
	apptest.WantCount(t, a, "noscript", 1) // a browser without JavaScript reloads the page
	run, began, err := s.Jobs.Begin(t.Context(), s.Holder(), cleanup.Job, func(now time.Time) time.Time { return now.Add(time.Hour) })
	if err != nil || !began {
		t.Fatal(began, err)
	}
	a = s.Get("/admin/cleanup?done=run_requested")
	apptest.WantCount(t, a, ".flash", 0)
	apptest.WantText(t, a, ".state", "running since just now")
	apptest.WantText(t, a, "#why-not", "Already running.")
	apptest.WantCount(t, a, ".run-now button[disabled]", 1)
	apptest.WantStatus(t, s.Post("/admin/cleanup/run", nil), 409)
	reaped(s, 1, 0, "")
	run.Error = "<b>broken"
	s.Must(s.Jobs.Finish(t.Context(), run))
	a = s.Get("/admin/cleanup")
	apptest.WantCount(t, a, ".state.dead", 1)
	apptest.WantText(t, a, ".state .failure", "<b>broken")
	apptest.WantCount(t, a, "noscript", 0)
}

func TestCleanupPageShowsTheLastRuns(t *testing.T) {
	s := apptest.New(t)
	declareReaper(s)
	for i := range 3 {
		s.Shorten(fmt.Sprintf("https://a.test/%d", i), fmt.Sprint("ends", i))
		s.Must(s.ShortLinks.Delete(t.Context(), fmt.Sprint("ends", i)))
	}
	s.Clock.Advance(24 * time.Hour)
	apptest.WantText(t, s.Get("/admin/cleanup"), ".state", "3 short links are waiting to be deleted.")
	n, err := s.Cleanup.Batch(t.Context(), shortLinks, 10, s.ShortLinks.ReapExpired)
	if err != nil || n != 3 {
		t.Fatal(n, err)
	}
	reaped(s, 3, 40, "")
	reaped(s, 0, 2, "<i>no disk")
	reaped(s, 0, 0, "")
	a := s.Get("/admin/cleanup")
	apptest.WantText(t, a, ".state", "No short links are waiting to be deleted. 3 short links have been deleted in 3 runs (1 failed).")
	apptest.WantText(t, a, ".section-head", "Recent runs 3 runs · 1 failed")
	if got := a.Find(".chart-lines").AttrOr("aria-label", ""); got != "Deleted in the last 3 runs: 3 short links, 42 other rows" {
		t.Errorf("got chart %q", got)
	}
	apptest.WantCount(t, a, ".chart-lines .hover", 40) // a new database has few runs
	apptest.WantText(t, a, ".figures tbody tr:nth-child(2)", "failed <i>no disk 0 2 25 ms")
	apptest.WantText(t, a, ".figures tbody tr:nth-child(3)", "ok 3 40 25 ms")
	apptest.WantText(t, a, "#cleanup > section:last-child tbody tr:first-child", "Short links that expired more than 1 hour ago, which move to the archive, or were deleted more than a day ago 3 3 2 1 20 ms 15 min ago")
	if strings.Contains(a.HTML, "<i>no disk") {
		t.Error("the error is interpreted as markup")
	}
	apptest.WantText(t, s.Get("/admin/jobs"), ".below", "Cleanup has deleted 3 rows so far.")

	few := s.Count("/admin/cleanup")
	for range cleanup.KeptRuns {
		reaped(s, 7, 7, "")
	}
	if many := s.Count("/admin/cleanup"); many != few || many > 12 {
		t.Errorf("got %d queries with many runs, %d with few", many, few)
	}
	apptest.WantCount(t, s.Get("/admin/cleanup"), ".chart-lines .hover", cleanup.KeptRuns)
	part := s.Part("/admin/cleanup")
	apptest.WantCount(t, part, "#cleanup[hx-trigger]", 1)
	apptest.WantCount(t, part, "header", 0)
}

// Without CLEANUP_ENABLED the reaper still runs, and the page shows what it does not delete.
func TestCleanupPage_ShortLinksAreKept(t *testing.T) {
	s := apptest.New(t, apptest.Set("CLEANUP_ENABLED", "false"))
	declareReaper(s)
	a := s.Get("/admin/cleanup")
	apptest.WantText(t, a, ".state", "next run in 15 min Short links are not deleted, because CLEANUP_ENABLED is false.")
	apptest.WantCount(t, a, ".run-now button:not([disabled])", 1)
	apptest.WantText(t, a, "#cleanup > section:last-child tbody tr:first-child", "Short links not deleted: CLEANUP_ENABLED is false")
	a = s.Submit(a, ".run-now")
	apptest.WantText(t, a, "#why-not", "Starts in a few seconds.")
}

// reaped records a run that deleted rows of two kinds.
func reaped(s *apptest.App, links, keys int64, failure string) {
	s.Helper()
	at := s.Cleanup.Now()
	s.Must(s.Cleanup.Finish(s.Context(), cleanup.Run{StartedAt: at, Kind: shortLinks, Cleaned: links, Duration: 20 * time.Millisecond, Error: failure}))
	s.Must(s.Cleanup.Finish(s.Context(), cleanup.Run{StartedAt: at, Kind: idempotencyKeys, Cleaned: keys, Duration: 5 * time.Millisecond}))
	s.Clock.Advance(15 * time.Minute)
}
