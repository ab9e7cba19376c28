package handlers_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"linkwatch/handlers"
	"linkwatch/models"
	"linkwatch/models/cleanup"
	"linkwatch/models/schedule"
	"linkwatch/models/shortlinks"
)

// declareReaper schedules the reaper, as the program does.
func (s *site) declareReaper() {
	s.t.Helper()
	s.must(s.jobs.Declare(s.t.Context(), schedule.Job{ID: cleanup.Job, Schedule: "@every 15m0s", NextRunAt: models.At(s.clock.Now().Add(15 * time.Minute))}))
}

// reaped records a run over two kinds.
func (s *site) reaped(shortLinks, keys int64, failure string) {
	s.t.Helper()
	at := s.cleanup.Now()
	s.must(s.cleanup.Finish(s.t.Context(), cleanup.Run{StartedAt: at, Kind: cleanup.ShortLinks, Cleaned: shortLinks, Duration: 20 * time.Millisecond, Error: failure}))
	s.must(s.cleanup.Finish(s.t.Context(), cleanup.Run{StartedAt: at, Kind: cleanup.IdempotencyKeys, Cleaned: keys, Duration: 5 * time.Millisecond}))
	s.clock.Advance(15 * time.Minute)
}

func TestCleanupPage(t *testing.T) {
	s := newSite(t)
	s.declareReaper()
	a := s.get("/admin/cleanup")
	wantText(t, a, ".state", "Has not run yet every 15 minutes, next run in 15 min No short links are waiting to be deleted.")
	wantText(t, a, ".empty", "No run yet")
	wantCount(t, a, "tbody tr", len(cleanup.Kinds))
	wantText(t, a, `nav [aria-current="page"][href="/admin/cleanup"]`, "Cleanup")
	wantCount(t, a, ".run-now button[disabled]", 0)

	a = s.submit(a, ".run-now")
	wantText(t, a, ".flash", "starts within moments")
	wantText(t, a, "#why-not", "It starts within moments.")
	wantCount(t, a, "noscript", 1) // a browser without JavaScript asks again
	run, began, err := s.jobs.Begin(t.Context(), cleanup.Job, func(now time.Time) time.Time { return now.Add(time.Hour) })
	if err != nil || !began {
		t.Fatal(began, err)
	}
	a = s.get("/admin/cleanup?done=asked")
	wantCount(t, a, ".flash", 0)
	wantText(t, a, ".state", "running since just now")
	wantText(t, a, "#why-not", "It is running already.")
	wantCount(t, a, ".run-now button[disabled]", 1)
	wantStatus(t, s.post("/admin/cleanup/run", nil), 409)
	s.reaped(1, 0, "")
	run.Error = "<b>broken"
	s.must(s.jobs.Finish(t.Context(), run))
	a = s.get("/admin/cleanup")
	wantCount(t, a, ".state.dead", 1)
	wantText(t, a, ".state .failure", "<b>broken")
	wantCount(t, a, "noscript", 0)
}

func TestCleanupPageShowsTheLastRuns(t *testing.T) {
	s := newSite(t)
	s.declareReaper()
	for i := range 3 {
		s.shorten(fmt.Sprintf("https://a.test/%d", i), fmt.Sprint("ends", i))
		s.must(s.short.Delete(t.Context(), fmt.Sprint("ends", i)))
	}
	s.clock.Advance(24 * time.Hour)
	wantText(t, s.get("/admin/cleanup"), ".state", "3 short links are waiting to be deleted.")
	n, err := s.cleanup.Batch(t.Context(), cleanup.ShortLinks, 10, s.short.ReapEnded)
	if err != nil || n != 3 {
		t.Fatal(n, err)
	}
	s.reaped(3, 40, "")
	s.reaped(0, 2, "<i>no disk")
	s.reaped(0, 0, "")
	a := s.get("/admin/cleanup")
	wantText(t, a, ".state", "No short links are waiting to be deleted. So far 3 short links were deleted in 3 runs, of which 1 failed.")
	wantText(t, a, ".section-head", "Last runs 3 runs · 1 failed")
	if got := a.Find(".chart-lines").AttrOr("aria-label", ""); got != "What the last 3 runs deleted: 3 short links, 42 other rows" {
		t.Errorf("the chart is %q", got)
	}
	wantCount(t, a, ".chart-lines .hover", 40) // a young store leaves room
	wantText(t, a, ".figures tbody tr:nth-child(2)", "failed <i>no disk 0 2 25 ms")
	wantText(t, a, ".figures tbody tr:nth-child(3)", "ok 3 40 25 ms")
	wantText(t, a, "#cleanup > section:last-child tbody tr:first-child", "Short links with their visits, CLEANUP_BUFFER_TIME after they ended or a day after they were deleted 3 3 2 1 20 ms 15 min ago")
	if strings.Contains(a.body, "<i>no disk") {
		t.Error("an error is markup")
	}
	wantText(t, s.get("/admin/jobs"), ".below", "The reaper has deleted 3 rows so far.")

	few := s.count("/admin/cleanup")
	for range cleanup.KeptRuns {
		s.reaped(7, 7, "")
	}
	if many := s.count("/admin/cleanup"); many != few || many > 12 {
		t.Errorf("the page takes %d queries with many runs, %d with few", many, few)
	}
	wantCount(t, s.get("/admin/cleanup"), ".chart-lines .hover", cleanup.KeptRuns)
	part := s.part("/admin/cleanup")
	wantCount(t, part, "#cleanup[hx-trigger]", 1)
	wantCount(t, part, "header", 0)
}

// Without CLEANUP_ENABLED the reaper runs as before, and the page says what it keeps.
func TestCleanupPage_ShortLinksAreKept(t *testing.T) {
	s := newSite(t, func(d *handlers.Deps) {
		opts := d.ShortLinks.Options()
		opts.KeepEnded = true
		d.ShortLinks = shortlinks.NewStore(d.DB, nil, nil, nil, opts)
	})
	s.declareReaper()
	a := s.get("/admin/cleanup")
	wantText(t, a, ".state", "next run in 15 min Short links are not deleted, because CLEANUP_ENABLED is false.")
	wantCount(t, a, ".run-now button:not([disabled])", 1)
	wantText(t, a, "#cleanup > section:last-child tbody tr:first-child", "Short links kept: CLEANUP_ENABLED is false")
	a = s.submit(a, ".run-now")
	wantText(t, a, "#why-not", "It starts within moments.")
}
