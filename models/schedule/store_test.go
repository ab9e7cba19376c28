package schedule_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
	"linkwatch/models/schedule"
)

const holder lease.ID = "k_test"

func inAnHour(t time.Time) time.Time { return t.Add(time.Hour) }

// each runs a test on every engine, with one hourly job that is due in an hour.
func each(t *testing.T, test func(t *testing.T, s *schedule.Store, clock *modelstest.Clock)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		clock := modelstest.NewClock()
		s := schedule.NewStore(db, clock.Now)
		declare(t, s, "hourly")
		modelstest.Lease(t, db, string(holder))
		test(t, s, clock)
	})
}

func declare(t *testing.T, s *schedule.Store, ids ...string) {
	t.Helper()
	var jobs []schedule.Job
	for _, id := range ids {
		jobs = append(jobs, schedule.Job{ID: id, Schedule: "@every 1h", NextRunAt: s.Now().Add(time.Hour)})
	}
	if err := s.Declare(t.Context(), jobs...); err != nil {
		t.Fatal(err)
	}
}

func begin(t *testing.T, s *schedule.Store, id string) (schedule.Run, bool) {
	t.Helper()
	run, began, err := s.Begin(t.Context(), holder, id, inAnHour)
	if err != nil {
		t.Fatal(err)
	}
	return run, began
}

func mustBegin(t *testing.T, s *schedule.Store, id string) schedule.Run {
	t.Helper()
	run, began := begin(t, s, id)
	if !began {
		t.Fatalf("%s did not start", id)
	}
	return run
}

func finish(t *testing.T, s *schedule.Store, run schedule.Run) {
	t.Helper()
	if err := s.Finish(t.Context(), run); err != nil {
		t.Fatal(err)
	}
}

func job(t *testing.T, s *schedule.Store, id string) schedule.Job {
	t.Helper()
	jobs, err := s.Jobs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		if j.ID == id {
			return j
		}
	}
	t.Fatalf("job %s is not listed", id)
	return schedule.Job{}
}

func TestRunIsRecorded(t *testing.T) {
	each(t, func(t *testing.T, s *schedule.Store, clock *modelstest.Clock) {
		if _, began := begin(t, s, "hourly"); began {
			t.Error("a run started before the job was due")
		}
		clock.Advance(time.Hour)
		run := mustBegin(t, s, "hourly")
		if j := job(t, s, "hourly"); !j.Running() || j.LastStartedAt != s.Now() || j.NextRunAt != s.Now().Add(time.Hour) || j.Runs != 1 {
			t.Errorf("while running: %+v", j)
		}
		if _, began := begin(t, s, "hourly"); began {
			t.Error("two runs at the same time")
		}
		run.Duration, run.Summary = 1500*time.Millisecond, "3 checked"
		finish(t, s, run)
		want := schedule.Job{
			ID: "hourly", Schedule: "@every 1h", Runs: 1, Successes: 1, LastStartedAt: s.Now(),
			LastDuration: 1500 * time.Millisecond, NextRunAt: s.Now().Add(time.Hour),
		}
		if j := job(t, s, "hourly"); j != want {
			t.Errorf("after success:\n got %+v\nwant %+v", j, want)
		}
		if err := s.Finish(t.Context(), run); !errors.Is(err, schedule.ErrLost) {
			t.Errorf("finishing twice: %v", err)
		}

		clock.Advance(time.Hour)
		failed := mustBegin(t, s, "hourly")
		failed.Error = "broken\x00\xff" + strings.Repeat("é", 600)
		finish(t, s, failed)
		j := job(t, s, "hourly")
		if j.Runs != 2 || j.Successes != 1 || j.Failures != 1 || !strings.HasPrefix(j.LastError, "broken\uFFFDé") || len([]rune(j.LastError)) != 500 {
			t.Errorf("after failure: %+v", j)
		}
		runs, err := s.Runs(t.Context(), "hourly", models.Cursor{}, 10)
		if err != nil || len(runs.Items) != 2 || runs.Items[1] != run || runs.Next != (models.Cursor{}) {
			t.Errorf("history: %+v, %v", runs, err)
		}
	})
}

func TestOneOfManyInstancesBegins(t *testing.T) {
	each(t, func(t *testing.T, s *schedule.Store, clock *modelstest.Clock) {
		clock.Advance(time.Hour)
		var wg sync.WaitGroup
		var mu sync.Mutex
		started := 0
		for range 8 {
			wg.Go(func() {
				_, began, err := s.Begin(t.Context(), holder, "hourly", inAnHour)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				if began {
					started++
				}
			})
		}
		wg.Wait()
		if started != 1 {
			t.Errorf("%d runs started, want 1", started)
		}
	})
}

// A run ends with the lease of its instance. Another instance may start the next one.
func TestRunOfAKilledProcessIsAbandoned(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		s := schedule.NewStore(db, modelstest.NewClock().Now)
		declare(t, s, "hourly")
		modelstest.Lease(t, db, string(holder))
		if err := s.Request(t.Context(), "hourly"); err != nil {
			t.Fatal(err)
		}
		killed := mustBegin(t, s, "hourly")
		other := modelstest.Lease(t, db, "k_other")
		if _, began, err := s.Begin(t.Context(), other, "hourly", inAnHour); began || err != nil || !job(t, s, "hourly").Running() {
			t.Errorf("a second run started: %v", err)
		}
		modelstest.Exec(t, db, "DELETE FROM instances WHERE id = ?", holder)
		if j := job(t, s, "hourly"); j.Running() || j.Runs != 1 || j.Successes+j.Failures != 0 {
			t.Errorf("after its lease ended: %+v", j)
		}
		if _, began, err := s.Begin(t.Context(), holder, "hourly", inAnHour); began || !errors.Is(err, lease.ErrLost) {
			t.Errorf("a run started without a lease: %v", err)
		}
		next, began, err := s.Begin(t.Context(), other, "hourly", inAnHour) // the request was not lost
		if err != nil || !began || next.Trigger != schedule.Manual {
			t.Fatalf("%+v %v %v", next, began, err)
		}
		if err := s.Finish(t.Context(), killed); !errors.Is(err, schedule.ErrLost) {
			t.Errorf("finishing a lost run: %v", err)
		}
		finish(t, s, next)
		j := job(t, s, "hourly")
		if j.Runs != 2 || j.Failures != 1 || j.Successes != 1 || !j.RequestedAt.IsZero() {
			t.Errorf("afterwards: %+v", j)
		}
		runs, err := s.Runs(t.Context(), "hourly", models.Cursor{}, 10)
		if err != nil || len(runs.Items) != 2 || runs.Items[1].ID != killed.ID || runs.Items[1].Error == "" || runs.Items[1].Trigger != schedule.Manual {
			t.Errorf("history: %+v, %v", runs.Items, err)
		}
	})
}

func TestSkipCountsOnce(t *testing.T) {
	each(t, func(t *testing.T, s *schedule.Store, clock *modelstest.Clock) {
		clock.Advance(time.Hour)
		run := mustBegin(t, s, "hourly")
		skip := func(want bool) {
			t.Helper()
			due := s.Now()
			for i := range 2 { // the second call is that of another instance
				skipped, err := s.Skip(t.Context(), "hourly", due, inAnHour)
				if err != nil || skipped != (want && i == 0) {
					t.Errorf("skip %d: %v, %v", i, skipped, err)
				}
			}
		}
		clock.Advance(time.Hour)
		skip(true)
		if j := job(t, s, "hourly"); j.OverlapSkips != 1 || j.Runs != 1 || j.NextRunAt != s.Now().Add(time.Hour) {
			t.Errorf("%+v", j)
		}
		finish(t, s, run)
		clock.Advance(time.Hour)
		skip(false) // it no longer runs
		mustBegin(t, s, "hourly")
	})
}

func TestRequest(t *testing.T) {
	each(t, func(t *testing.T, s *schedule.Store, clock *modelstest.Clock) {
		for range 2 { // two requests count as one
			if err := s.Request(t.Context(), "hourly"); err != nil {
				t.Fatal(err)
			}
		}
		if len(s.Requested()) != 1 {
			t.Errorf("%d wake-ups, want 1", len(s.Requested()))
		}
		asked := job(t, s, "hourly")
		if asked.RequestedAt != s.Now() {
			t.Errorf("%+v", asked)
		}
		clock.Advance(time.Second)
		run := mustBegin(t, s, "hourly")
		if run.Trigger != schedule.Manual {
			t.Errorf("trigger %q", run.Trigger)
		}
		if j := job(t, s, "hourly"); j.NextRunAt != asked.NextRunAt {
			t.Error("a manual run moved the schedule")
		}
		if err := s.Request(t.Context(), "hourly"); models.CodeOf(err) != models.CodeConflict {
			t.Errorf("request while running: %v", err)
		}
		finish(t, s, run)
		if _, began := begin(t, s, "hourly"); began {
			t.Error("one request caused two runs")
		}
		for _, id := range []string{"", "other", "hourly\x00", "\xff", strings.Repeat("a", 1000)} {
			if err := s.Request(t.Context(), id); models.CodeOf(err) != models.CodeNotFound {
				t.Errorf("unknown job %.20q: %v", id, err)
			}
			if _, err := s.Runs(t.Context(), id, models.Cursor{}, 1); models.CodeOf(err) != models.CodeNotFound {
				t.Errorf("runs of unknown job %.20q: %v", id, err)
			}
		}
	})
}

// An interrupted run leaves no record, and its job runs again for the same reason.
func TestInterrupt(t *testing.T) {
	each(t, func(t *testing.T, s *schedule.Store, clock *modelstest.Clock) {
		clock.Advance(time.Hour)
		finish(t, s, mustBegin(t, s, "hourly"))
		first := s.Now()
		for _, trigger := range []string{schedule.BySchedule, schedule.Manual, schedule.AtStart} {
			switch clock.Advance(time.Minute); trigger {
			case schedule.BySchedule:
				clock.Advance(time.Hour)
			case schedule.Manual:
				if err := s.Request(t.Context(), "hourly"); err != nil {
					t.Fatal(err)
				}
			case schedule.AtStart:
				for range 2 {
					if err := s.RequestAtStart(t.Context(), "hourly"); err != nil {
						t.Fatal(err)
					}
				}
			}
			before := job(t, s, "hourly")
			run := mustBegin(t, s, "hourly")
			for _, want := range []error{nil, schedule.ErrLost} {
				if err := s.Interrupt(t.Context(), run); !errors.Is(err, want) {
					t.Fatal(err)
				}
			}
			j := job(t, s, "hourly")
			if j.Running() || j.Runs != before.Runs+1 || j.Successes != before.Successes || j.Failures != 0 || j.LastError != "" || j.LastStartedAt != first || j.RequestedAt != before.RequestedAt {
				t.Errorf("%s: %+v", trigger, j)
			}
			clock.Advance(time.Second)
			if run = mustBegin(t, s, "hourly"); run.Trigger != trigger {
				t.Errorf("trigger %q, want %q", run.Trigger, trigger)
			}
			finish(t, s, run)
			first = run.StartedAt
			if _, began := begin(t, s, "hourly"); began {
				t.Errorf("%s: job ran twice", trigger)
			}
		}
	})
}

func TestDeclare(t *testing.T) {
	each(t, func(t *testing.T, s *schedule.Store, clock *modelstest.Clock) {
		clock.Advance(time.Hour)
		finish(t, s, mustBegin(t, s, "hourly"))
		before := job(t, s, "hourly")

		clock.Advance(time.Minute) // a restart with an additional job
		declare(t, s, "hourly", "new")
		if j := job(t, s, "hourly"); j != before {
			t.Errorf("a restart changed\n%+v to\n%+v", before, j)
		}
		declare(t, s, "new") // a version without the first
		jobs, err := s.Jobs(t.Context())
		if err != nil || len(jobs) != 1 || jobs[0].ID != "new" {
			t.Errorf("jobs: %+v, %v", jobs, err)
		}
		if err := s.Request(t.Context(), "hourly"); models.CodeOf(err) != models.CodeNotFound {
			t.Errorf("request for a removed job: %v", err)
		}
		clock.Advance(2 * time.Hour)
		if _, began := begin(t, s, "hourly"); began {
			t.Error("a removed job ran")
		}
		err = s.Declare(t.Context(), schedule.Job{ID: "hourly", Schedule: "@every 2h", NextRunAt: s.Now().Add(2 * time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		if j := job(t, s, "hourly"); j.Runs != 1 || j.NextRunAt != s.Now().Add(2*time.Hour) {
			t.Errorf("declared again: %+v", j)
		}
		if err := s.Declare(t.Context(), schedule.Job{ID: "No Id", Schedule: "@hourly"}); err == nil {
			t.Error("an invalid id was accepted")
		}
	})
}

func TestRunsKeepsTheNewestAndPages(t *testing.T) {
	each(t, func(t *testing.T, s *schedule.Store, clock *modelstest.Clock) {
		declare(t, s, "hourly", "other")
		clock.Advance(time.Hour)
		finish(t, s, mustBegin(t, s, "other"))
		for i := range schedule.KeptRuns + 3 {
			clock.Advance(time.Hour)
			run := mustBegin(t, s, "hourly")
			run.Summary = fmt.Sprint(i)
			finish(t, s, run)
		}
		var seen []string
		for at := (models.Cursor{}); ; {
			page, err := s.Runs(t.Context(), "hourly", at, 70)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range page.Items {
				seen = append(seen, r.Summary)
			}
			if at = page.Next; at == (models.Cursor{}) {
				break
			}
		}
		if len(seen) != schedule.KeptRuns || seen[0] != "202" || seen[199] != "3" {
			t.Errorf("%d runs: %v", len(seen), seen)
		}
		if others, err := s.Runs(t.Context(), "other", models.Cursor{}, 10); err != nil || len(others.Items) != 1 {
			t.Errorf("runs of the other job: %+v, %v", others, err)
		}
		_, err := s.Runs(context.Background(), "hourly", models.Cursor{CreatedAt: s.Now(), ID: "l_\x00"}, 10)
		if models.CodeOf(err) != models.CodeInvalid {
			t.Errorf("a token of another list: %v", err)
		}
	})
}
