package crawl_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// TestNextRunOnTheGrid uses a job that runs every 6 hours, planned at noon. Times are hours from noon.
func TestNextRunOnTheGrid(t *testing.T) {
	const base = 6 * time.Hour
	noon := time.Date(2026, 3, 24, 12, 0, 0, 0, time.UTC)
	hours := func(h float64) time.Duration { return time.Duration(h * float64(time.Hour)) }
	for name, c := range map[string]struct {
		ended           float64
		every           float64 // effective interval after the run
		forced, adapted bool
		want            float64
	}{
		"on schedule":                              {0.1, 6, false, false, 6},
		"on schedule, too long":                    {6.1, 6, false, false, 12},
		"on schedule, missed periods":              {50, 6, false, false, 54},
		"on schedule, first unchanged run":         {0.1, 12, false, true, 12},
		"on schedule, longest interval":            {0.1, 24, false, false, 24},
		"on schedule, changed again":               {0.1, 6, false, true, 6},
		"forced before":                            {-2, 6, true, false, 0},
		"forced a moment before":                   {-0.001, 6, true, false, 0},
		"forced, ends at the planned time":         {0, 6, true, false, 6},
		"forced, too long":                         {1, 6, true, false, 6},
		"forced long after, as a manual retry":     {27, 6, true, false, 30},
		"forced before, interval unchanged at 12":  {-2, 12, true, false, 0},
		"forced, interval doubles":                 {-2, 12, true, true, 12},
		"forced, interval doubles, exactly":        {-6, 12, true, true, 6},
		"forced, interval doubles, a moment later": {-5.999, 12, true, true, 12},
		"forced, too long, interval doubles":       {1, 12, true, true, 18},
		"forced, longest interval":                 {-2, 24, true, true, 24},
		"forced, reset, earlier than planned":      {-20, 6, true, true, -12},
		"forced, reset to the planned time":        {-6, 6, true, true, 0},
		"manual retry, reset":                      {27, 6, true, true, 36},
	} {
		r := crawl.Run{Planned: noon, Base: base, Every: hours(c.every), Forced: c.forced, Adapted: c.adapted}
		if got, want := r.Next(noon.Add(hours(c.ended))), noon.Add(hours(c.want)); !got.Equal(want) {
			t.Errorf("%s: got %v after noon, want %v", name, got.Sub(noon), want.Sub(noon))
		}
	}
	long := crawl.Run{Planned: time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), Base: time.Hour, Every: 2 * time.Hour, Forced: true, Adapted: true}
	if got := long.Next(noon.Add(time.Minute)); got != noon.Add(3*time.Hour) {
		t.Errorf("planned in the year 1: got %v", got)
	}
}

// TestPhaseOfRuns checks that all runs of random jobs are on their grid, later than now, and at most an interval too late.
func TestPhaseOfRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 9))
	for range 20_000 {
		base := time.Duration(1+r.IntN(3*24*60)) * time.Minute
		run := crawl.Run{
			Planned: slotNow.Add(time.Duration(r.Int64N(int64(200*time.Hour))) - 100*time.Hour), Base: base,
			Every: crawl.Adapt(base, r.IntN(12)), Forced: r.IntN(2) == 0, Adapted: r.IntN(2) == 0,
		}
		got, least := run.Next(slotNow), slotNow
		if run.Forced && run.Adapted {
			least = slotNow.Add(run.Every)
			if got.Before(least) || !got.Before(least.Add(base)) {
				t.Fatalf("%+v: got %v", run, got)
			}
		}
		if got.Sub(run.Planned)%base != 0 || got.Before(least) || !run.Forced && run.Planned.Before(slotNow) && got.Sub(slotNow) > run.Every+base {
			t.Fatalf("%+v: got %v", run, got)
		}
	}
}

// runOnce runs the due job for a time. Its start page has a hash; "" = the run fails.
func (w *world) runOnce(hash string, duration time.Duration) {
	w.Helper()
	e := w.begin()
	w.clock.Advance(duration)
	end := crawl.ExecutionEnd{Event: crawl.Succeed}
	if hash == "" {
		end = crawl.ExecutionEnd{Event: crawl.Fail, Error: "broken"}
	}
	modelstest.Exec(w.T, w.db, "UPDATE job_executions SET start_hash = ? WHERE seq = ?", hash, e.Seq)
	w.ok(w.EndExecution(w.Context(), e, end))
}

// TestPhaseOfAJob checks that a job keeps its phase over forced runs, retries, failures, changes of its page and interval,
// interruptions and times when its source is disabled. Only resuming it and a rebalance start another one.
func TestPhaseOfAJob(t *testing.T) {
	each(t, func(w *world) {
		r := rand.New(rand.NewPCG(3, 43))
		const base = 7 * time.Hour
		j := w.job("http://a.example/", base)
		phase := j.NextRunAt
		hash, off, on := 0, false, true
		for step := range 150 {
			now := w.get(j)
			switch n := r.IntN(6); {
			case now.Status == crawl.Failed:
				_, err := w.Act(w.Context(), j.ID, crawl.Retry)
				w.ok(err)
			case n == 0 && now.Status == crawl.Scheduled:
				_, err := w.Act(w.Context(), j.ID, crawl.ForceRun)
				w.ok(err)
			case n == 1:
				_, err := w.EditSource(w.Context(), j.SourceID, crawl.SourceEdit{Enabled: &off})
				w.ok(err)
				w.clock.Advance(time.Duration(r.Int64N(int64(30 * time.Hour))))
				_, err = w.EditSource(w.Context(), j.SourceID, crawl.SourceEdit{Enabled: &on})
				w.ok(err)
			case n == 2:
				w.ok(w.DeleteJob(w.Context(), j.ID))
				w.clock.Advance(time.Duration(r.Int64N(int64(crawl.KeepDeleted))))
				_, err := w.RestoreJob(w.Context(), j.ID)
				w.ok(err)
			}
			if wait := w.get(j).NextRunAt.Sub(w.Now().Time); wait > 0 {
				w.clock.Advance(wait)
			}
			switch r.IntN(6) {
			case 0:
				w.runOnce("", time.Minute)
			case 1:
				w.ok(w.EndExecution(w.Context(), w.begin(), crawl.ExecutionEnd{Event: crawl.Release, Error: crawl.Interrupted}))
			case 2:
				hash++
				fallthrough
			default:
				w.runOnce("h"+string(rune('a'+hash)), time.Duration(r.Int64N(int64(2*base))))
			}
			now = w.get(j)
			if now.PlannedAt.Sub(phase.Time)%base != 0 {
				t.Fatalf("step %d: planned %v after the first run, %+v", step, now.PlannedAt.Sub(phase.Time), now)
			}
			if now.Status == crawl.Scheduled && now.CrawlSeq == nil && (now.NextRunAt != now.PlannedAt || !now.NextRunAt.After(w.Now().Time)) {
				t.Fatalf("step %d: got %+v", step, now)
			}
		}
	})
}

// TestNextRunIsOneEffectiveIntervalLater checks that an unchanged job with an interval that does not divide 24 hours runs at
// least every 24 hours, and that its effective interval is the time between its runs.
func TestNextRunIsOneEffectiveIntervalLater(t *testing.T) {
	each(t, func(w *world) {
		for base, longest := range map[time.Duration]time.Duration{18 * time.Hour: 18 * time.Hour, 7 * time.Hour: 21 * time.Hour, 30 * time.Hour: 30 * time.Hour} {
			j := w.job("http://"+base.String()+".example/", base)
			for range 4 {
				planned := w.get(j).PlannedAt
				w.clock.Advance(planned.Sub(w.Now().Time))
				w.runOnce("same", time.Minute)
				got := w.get(j)
				if every := got.NextRunAt.Sub(planned.Time); every != got.EffectiveInterval() || every > longest {
					w.Errorf("every %v: next run %v later, effective interval %v", base, every, got.EffectiveInterval())
				}
			}
			if got := w.get(j).EffectiveInterval(); got != longest {
				w.Errorf("every %v: got %v", base, got)
			}
			w.ok(w.DeleteJob(w.Context(), j.ID))
		}
	})
}

// TestForcedRunsKeepTheSchedule checks the next run after forced runs, manual retries and automatic ones.
func TestForcedRunsKeepTheSchedule(t *testing.T) {
	each(t, func(w *world) {
		const hour = time.Hour
		j := w.job("http://a.example/", 6*hour)
		planned := j.NextRunAt
		act := func(e crawl.Event) {
			t.Helper()
			got, err := w.Act(w.Context(), j.ID, e)
			w.ok(err)
			if got.NextRunAt != w.Now() {
				t.Errorf("%s: due at %v", e, got.NextRunAt)
			}
		}
		next := func(name string, want models.Time) {
			t.Helper()
			if got := w.get(j); got.NextRunAt != want || got.PlannedAt != want {
				t.Errorf("%s: next run at %v, planned at %v, want %v", name, got.NextRunAt, got.PlannedAt, want)
			}
		}
		act(crawl.ForceRun)
		w.runOnce("a", time.Second)
		next("forced", planned)

		act(crawl.ForceRun) // the first unchanged run: the interval doubles
		w.runOnce("a", time.Second)
		want := planned
		for want.Before(w.Now().Add(12 * hour).Time) {
			want = want.Add(6 * hour)
		}
		next("forced, unchanged", want)
		act(crawl.ForceRun) // and a changed one
		w.runOnce("b", time.Second)
		for want = planned; want.Before(w.Now().Add(6 * hour).Time); {
			want = want.Add(6 * hour)
		}
		next("forced, changed", want)

		no := 0
		_, err := w.EditJob(w.Context(), j.ID, crawl.JobEdit{MaxRetries: &no})
		w.ok(err)
		w.clock.Advance(want.Sub(w.Now().Time))
		w.runOnce("", time.Second)
		w.clock.Advance(8 * hour)
		act(crawl.Retry)
		w.runOnce("c", time.Second)
		next("manual retry", want.Add(12*hour))

		three := 3
		_, err = w.EditJob(w.Context(), j.ID, crawl.JobEdit{MaxRetries: &three})
		w.ok(err)
		want = want.Add(12 * hour)
		w.clock.Advance(want.Sub(w.Now().Time))
		w.runOnce("", time.Second)
		if got := w.get(j); !got.WaitsForRetry() || got.NextRunAt != w.Now().Add(time.Minute) {
			t.Errorf("got %+v", got)
		}
		plan, err := w.PreviewRebalance(w.Context())
		w.ok(err)
		if len(plan.Moves) != 0 {
			t.Errorf("a retry moves: %+v", plan.Moves)
		}
		w.clock.Advance(time.Minute)
		w.runOnce("d", time.Second)
		next("automatic retry", want.Add(6*hour))
		_, err = w.CrawlSite(w.Context(), crawl.NewJob{URL: "http://a.example/"}, nil)
		w.ok(err)
		w.runOnce("e", time.Second)
		next("crawled from a list", want.Add(6*hour))
	})
}

// TestRebalanceKeepsRetries checks that a rebalance moves only runs on schedule.
func TestRebalanceKeepsRetries(t *testing.T) {
	jobs := make([]crawl.PlannedJob, 100)
	for i := range jobs {
		jobs[i] = crawl.PlannedJob{Seq: int64(i + 1), Next: slotNow.Add(5 * time.Hour), Every: 24 * time.Hour, OffPlan: i%2 == 0}
	}
	moves, _, _ := crawl.Rebalance(slotNow, jobs)
	for _, m := range moves {
		if jobs[m.Seq-1].OffPlan {
			t.Errorf("got %+v", m)
		}
	}
	if len(moves) == 0 {
		t.Error("no job moves")
	}
}
