package targets_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/targets"
)

// life is a target with random checks and changes. stopped is the times at which it was
// paused or deleted.
type life struct {
	fixture
	id      string
	rand    *rand.Rand
	stopped []models.Time
}

func (l *life) after(most time.Duration) {
	l.clock.Advance(time.Duration(l.rand.Int64N(int64(most))).Truncate(time.Microsecond))
}

func (l *life) edit(e targets.Edit) {
	l.Helper()
	_, err := l.Edit(l.Context(), l.id, e)
	l.must(err)
}

// checkDue waits until the target is due, and sometimes longer, and checks it.
func (l *life) checkDue() {
	l.Helper()
	_, next, err := l.Claim(l.Context(), checker, 0)
	l.must(err)
	l.clock.Advance(max(0, next.Sub(l.Now().Time)))
	if l.rand.IntN(8) == 0 {
		l.after(4 * l.Interval(l.get(l.id)))
	}
	claimed, c := l.only(), targets.Checked{Result: up(l.rand.IntN(900))}
	switch n := l.rand.IntN(10); {
	case n < 3:
		c.Result = down()
	case n == 3:
		c.Result.Outcome, c.Result.StatusCode = targets.ThrottledOutcome, 429
		c.RetryAfter = time.Duration(l.rand.IntN(3600)) * time.Second
	}
	c.Target, c.Result.CheckedAt = claimed, l.Now()
	l.after(time.Second) // the check takes some time
	l.must(l.Record(l.Context(), c))
}

func (l *life) step() {
	l.Helper()
	switch l.rand.IntN(20) {
	case 0:
		l.edit(targets.Edit{IntervalSeconds: new([]int{0, 90, 900, 7200, 40_000, 300_000}[l.rand.IntN(6)])})
	case 1:
		l.edit(targets.Edit{Paused: new(true)})
		l.stopped = append(l.stopped, l.Now())
		l.after(30 * time.Hour)
		l.edit(targets.Edit{Paused: new(false)})
	case 2:
		l.must(l.Delete(l.Context(), l.id))
		l.stopped = append(l.stopped, l.Now())
		l.after(targets.KeepDeleted)
		_, err := l.Restore(l.Context(), l.id)
		l.must(err)
	case 3, 4, 5: // "Check now", unless the host is throttling
		l.after(20 * time.Second)
		if err := l.RequestCheck(l.Context(), l.id); models.CodeOf(err) != models.CodeConflict {
			l.must(err)
		}
	case 6:
		l.after(9 * time.Hour) // no checker is running
	case 7:
		if l.rand.IntN(5) == 0 {
			l.after(20 * day)
		}
	}
	l.checkDue()
	l.after(time.Minute)
}

// span is a period in which the target is known to be up or down.
type span struct {
	up          bool
	from, until models.Time
}

// spans returns the known times according to the raw results, oldest first.
func (l *life) spans() (all []span) {
	l.Helper()
	var rs []targets.Result
	l.must(l.db.Read(l.Context()).Order("checked_at").Find(&rs).Error)
	for i, r := range rs {
		until := r.CheckedAt.Add(2 * time.Duration(r.IntervalMS) * time.Millisecond)
		ends := slices.Clone(l.stopped)
		if i+1 < len(rs) {
			ends = append(ends, rs[i+1].CheckedAt)
		}
		for _, at := range ends {
			if !at.Before(r.CheckedAt.Time) && at.Before(until.Time) {
				until = at
			}
		}
		if r.Outcome != targets.ThrottledOutcome {
			all = append(all, span{r.Outcome == targets.UpOutcome, r.CheckedAt, until})
		}
	}
	return all
}

// plain computes the uptime between two times.
func plain(all []span, from, until models.Time) (s targets.Share) {
	for _, part := range all {
		if part.from.Before(from.Time) {
			part.from = from
		}
		if until.Before(part.until.Time) {
			part.until = until
		}
		d := part.until.Sub(part.from.Time)
		if d <= 0 {
			continue
		}
		if part.up {
			s.Up += d
		} else {
			s.Down += d
		}
		if s.Since.IsZero() {
			s.Since = part.from
		}
	}
	return s
}

// Every uptime equals a simple computation from the raw results.
func TestUptimeMatchesRawResults(t *testing.T) {
	each(t, func(f fixture) {
		for seed := range uint64(3) {
			l := life{fixture: f, id: f.add("https://a.test").ID, rand: rand.New(rand.NewPCG(seed, 11))}
			for range 8 {
				for range 12 {
					l.step()
				}
				l.compare(seed)
			}
			f.must(f.Delete(f.Context(), l.id))
			f.clock.Advance(targets.KeepDeleted + time.Second)
			f.reapAll()
		}
	})
}

func (l *life) compare(seed uint64) {
	l.Helper()
	of := l.get(l.id)
	now, all := of.AsOf, l.spans()
	for _, r := range targets.Ranges {
		want := plain(all, r.From(now), now)
		if r != targets.Last365d && of.Uptime[r] != want {
			l.Fatalf("seed %d: uptime over %s is %+v, want %+v", seed, r, of.Uptime[r], want)
		}
		h, err := l.History(l.Context(), of, r)
		l.must(err)
		if h.Share != want {
			l.Fatalf("seed %d: history over %s is %+v, want %+v", seed, r, h.Share, want)
		}
		for _, b := range h.Buckets {
			to := b.To
			if now.Before(to.Time) {
				to = now
			}
			if want := plain(all, b.From, to); b.Share != want {
				l.Fatalf("seed %d: %s from %v: %+v, want %+v", seed, r, b.From, b.Share, want)
			}
		}
	}
	days, err := l.PageDays(l.Context(), targets.StatusPage{Targets: []targets.Target{of}})
	l.must(err)
	for _, d := range days[of.Seq] {
		to := d.At.Add(day)
		if now.Before(to.Time) {
			to = now
		}
		if want := plain(all, d.At, to); d.Share != want {
			l.Fatalf("seed %d: %v is %+v, want %+v", seed, d.At, d.Share, want)
		}
	}
}

// Repeated checks during an outage do not change the uptime: an outage of 2 h 22 min
// costs exactly that time.
func TestUptimeIsTimeNotChecks(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test")
		f.clock.Advance(day - f.Now().Sub(f.Now().Truncate(day)) + time.Hour)
		begun := f.Now()
		hourly := 3600
		_, err := f.Edit(f.Context(), made.ID, targets.Edit{IntervalSeconds: &hourly})
		f.must(err)
		f.record(f.only(), up(1))
		for range 142 {
			f.clock.Advance(time.Minute)
			f.must(f.RequestCheck(f.Context(), made.ID)) // repeatedly while it is down
			f.record(f.only(), down())
		}
		f.clock.Advance(time.Minute)
		f.must(f.RequestCheck(f.Context(), made.ID))
		f.record(f.only(), up(1))
		for f.get(made.ID).NextCheckAt.Before(begun.Add(day - time.Hour).Time) {
			f.check(up(1))
		}
		f.clock.Advance(begun.Add(day - time.Second).Sub(f.Now().Time))
		got := f.get(made.ID).Uptime[targets.Last24h]
		if want := (targets.Share{Up: day - time.Second - 142*time.Minute, Down: 142 * time.Minute, Since: begun}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		if o := f.outages(made.ID); len(o) != 1 || o[0].Duration(f.Now().Time) != got.Down {
			t.Errorf("down for %v, outages %+v", got.Down, o)
		}
	})
}

// A result counts for at most two of its own intervals, even if the interval changes
// afterwards.
func TestResultCountsForTwoIntervals(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test") // CHECK_INTERVAL is a minute
		f.record(f.only(), down())
		at := f.Now()
		_, err := f.Edit(f.Context(), made.ID, targets.Edit{IntervalSeconds: new(36_000)})
		f.must(err)
		f.clock.Advance(10 * time.Minute)
		want := targets.Share{Down: 2 * time.Minute, Since: at}
		if got := f.get(made.ID).Uptime[targets.Last24h]; got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		if since := targets.Last24h.CountsSince(want, f.Now()); since != at {
			t.Errorf("it counts since %v, want %v", since, at)
		}
		f.record(f.only(), up(1))
		want.Up = 15 * time.Hour
		f.clock.Advance(want.Up)
		if got := f.get(made.ID).Uptime[targets.Last24h]; got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
}

// A check that takes longer than the interval makes the interval longer, so that its
// result counts until the next one.
func TestResultOfASlowCheckCountsLonger(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test") // CHECK_INTERVAL is a minute
		c := targets.Checked{Target: f.only(), Result: down(), Elapsed: 10 * time.Minute}
		c.Result.CheckedAt = f.Now()
		f.clock.Advance(c.Elapsed)
		f.must(f.Record(f.Context(), c))
		f.clock.Advance(time.Hour)
		if got := f.get(made.ID).Uptime[targets.Last24h]; got.Down != 2*c.Elapsed || got.Up != 0 {
			t.Errorf("%+v, want %v down", got, 2*c.Elapsed)
		}
		if rs := f.results(targets.ResultFilter{}); rs[0].IntervalMS != c.Elapsed.Milliseconds() {
			t.Errorf("%+v", rs[0])
		}
	})
}
