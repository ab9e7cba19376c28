package targets_test

import (
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
	"linkwatch/models/targets"
)

// A target is late when its check is due and does not run: not at once, not while it is paused, postponed or checked.
// The reason is the check of its host and port that runs, on whichever instance.
func TestLateTargets(t *testing.T) {
	each(t, func(f fixture) {
		hangs, waits, other := f.add("http://a.test:81/hangs"), f.add("http://a.test:81/waits"), f.add("http://a.test:82")
		paused, postponed := f.add("http://a.test:81/paused"), f.add("http://a.test:81/postponed")
		late := func(what string, want map[string]string) {
			f.Helper()
			page, err := f.List(f.Context(), targets.Filter{}, models.Cursor{}, 50)
			f.must(err)
			n := 0
			for _, x := range page.Items {
				if x.Late.Reason != want[x.ID] || x.Late.Since.IsZero() != (want[x.ID] == "") {
					t.Errorf("%s: %s is %+v, want %q", what, x.URL, x.Late, want[x.ID])
				}
				if x.Late != f.get(x.ID).Late {
					t.Errorf("%s: %s differs from the list", what, x.URL)
				}
				if x.Late.Reason != "" {
					n++
				}
			}
			if got, _, err := f.Lateness(f.Context()); got != n || err != nil {
				t.Errorf("%s: Lateness counts %d, want %d (%v)", what, got, n, err)
			}
		}
		_, err := f.Edit(f.Context(), paused.ID, targets.Edit{Paused: new(true)})
		f.must(err)
		modelstest.Exec(f, f.db, "UPDATE target_schedule SET postponed_until = ? WHERE target_seq = ?", f.Now().Add(time.Hour), postponed.Seq)
		f.clock.Advance(time.Second)
		late("after a second", nil)
		f.clock.Advance(time.Second)
		const busy = "other checks run first"
		late("none runs", map[string]string{hangs.ID: busy, waits.ID: busy, other.ID: busy})
		if got := f.get(waits.ID); got.Late.Since != got.DueAt {
			t.Errorf("late since %v, due at %v", got.Late.Since, got.DueAt)
		}
		claimed := f.claim()
		f.must(f.Started(f.Context(), "k_other", map[int64]models.Time{hangs.Seq: f.Now()}))
		late("started by an instance that lost its claim", map[string]string{hangs.ID: busy, waits.ID: busy, other.ID: busy})
		f.must(f.Started(f.Context(), checker, map[int64]models.Time{hangs.Seq: f.Now()}))
		running := map[string]string{waits.ID: "another check of a.test:81 is running", other.ID: busy}
		late("one runs", running)
		f.clock.Advance(10 * time.Second)
		if _, longest, err := f.Lateness(f.Context()); longest != 12*time.Second || err != nil {
			t.Errorf("late by %v, %v", longest, err)
		}
		for _, c := range claimed { // released, because the host has too many checks
			if c.ID == waits.ID {
				f.must(f.Release(f.Context(), lease.Released[targets.Target]{Item: c, After: time.Minute}))
			}
		}
		late("released", running)
		f.end(checker) // its claims are released
		late("the instance died", map[string]string{hangs.ID: busy, waits.ID: busy, other.ID: busy})
		modelstest.Lease(f, f.db, string(checker))
		for _, c := range f.claim() {
			f.record(c, up(1))
		}
		late("checked", map[string]string{waits.ID: busy})
	})
}

// Only targets that are late by more than a minute need attention: not paused, deleted and postponed ones, and those that
// only others can see.
func TestOverdueTargets(t *testing.T) {
	each(t, func(f fixture) {
		late, paused, postponed, deleted := f.add("http://a.test/late"), f.add("http://a.test/paused"), f.add("http://a.test/postponed"), f.add("http://a.test/deleted")
		bob := models.WithActor(f.Context(), models.Actor{Name: "bob", Via: "session"})
		_, _, err := f.Add(bob, targets.New{URL: "http://a.test/private", Private: true})
		f.must(err)
		_, err = f.Edit(f.Context(), paused.ID, targets.Edit{Paused: new(true)})
		f.must(err)
		f.must(f.Delete(f.Context(), deleted.ID))
		modelstest.Exec(f, f.db, "UPDATE target_schedule SET postponed_until = ? WHERE target_seq = ?", f.Now().Add(time.Hour), postponed.Seq)
		alice := models.WithActor(f.Context(), models.Actor{Name: "alice", Via: "session"})
		overdue := func(what string, n int) {
			f.Helper()
			got, first, err := f.Overdue(alice, 5)
			if got != n || len(first) != n || err != nil {
				t.Errorf("%s: got %d %+v %v", what, got, first, err)
			}
			for _, x := range first {
				if x.ID != late.ID || x.Late.Reason == "" {
					t.Errorf("%s: got %+v", what, x)
				}
			}
		}
		f.clock.Advance(59 * time.Second)
		overdue("within a minute", 0)
		f.clock.Advance(time.Second)
		overdue("after a minute", 1)
		if n, _, err := f.Overdue(bob, 5); n != 2 || err != nil {
			t.Errorf("bob sees %d, %v", n, err)
		}
		f.claim() // they wait for their host
		overdue("claimed", 1)
		f.must(f.Started(f.Context(), checker, map[int64]models.Time{late.Seq: f.Now()}))
		overdue("running", 0)
	})
}

// The status of a target is stale once two intervals, and at least a minute, had no result.
func TestStaleTargets(t *testing.T) {
	each(t, func(f fixture) {
		x := f.add("http://a.test")
		stale := func(what string, want bool) {
			f.Helper()
			if got := f.get(x.ID).Stale; got != want {
				t.Errorf("%s: got %v", what, got)
			}
		}
		f.clock.Advance(time.Hour)
		stale("never checked", false) // it is pending
		f.check(up(1))
		stale("checked", false)
		f.clock.Advance(2 * time.Minute)
		stale("after two intervals", false)
		f.clock.Advance(time.Second)
		stale("after more than two intervals", true)
		f.check(targets.Result{Outcome: targets.ThrottledOutcome, StatusCode: 429})
		stale("throttled", true)
		modelstest.Exec(f, f.db, "UPDATE target_schedule SET postponed_until = ?", f.Now().Add(time.Hour))
		stale("throttled until later", true)
		modelstest.Exec(f, f.db, "UPDATE target_schedule SET postponed_until = NULL")
		f.clock.Advance(time.Minute)
		f.check(up(1))
		next := f.Now().Add(time.Hour)
		modelstest.Exec(f, f.db, "UPDATE target_schedule SET due_at = ?, next_check_at = ?", next, next)
		f.clock.Advance(time.Hour - 61*time.Second)
		stale("the next check is planned for later", false)
		f.clock.Advance(2 * time.Second)
		stale("the next check is not due, but soon: as after a restart", true)
		f.clock.Advance(time.Minute)
		f.check(down())
		stale("down", false)
		f.clock.Advance(time.Hour)
		_, err := f.Edit(f.Context(), x.ID, targets.Edit{Paused: new(true)})
		f.must(err)
		stale("paused", false)
	})
}

// The number of queries of a list does not depend on the number of late targets.
func TestQueriesForLateTargets(t *testing.T) {
	f := newFixture(t, modelstest.New(t))
	f.add("https://one.test")
	f.clock.Advance(time.Minute)
	sent := func() int {
		return len(modelstest.Sent(t, f.db, func() error {
			_, err := f.List(f.Context(), targets.Filter{}, models.Cursor{}, 50)
			return err
		}))
	}
	one := sent()
	f.addMany(20)
	f.clock.Advance(time.Minute)
	if many := sent(); many != one {
		t.Errorf("%d queries with one late target, %d with many", one, many)
	}
}

// A requested check is known to the instance that claimed the target before, until it is recorded. So is that of a
// target that was added alone, but not those of an import.
func TestRequestedChecks(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test")
		_, err := f.AddAll(f.Context(), []targets.New{{URL: "https://b.test"}, {URL: "https://c.test"}})
		f.must(err)
		claimed := f.claim()
		requested := func(want ...int64) {
			f.Helper()
			got, err := f.Requested(f.Context(), checker)
			f.must(err)
			if len(got) != len(want) {
				t.Errorf("requested: %v, want %v", got, want)
			}
			for _, seq := range want {
				if !got[seq] {
					t.Errorf("requested: %v, want %v", got, want)
				}
			}
		}
		requested(made.Seq)
		for _, c := range claimed {
			if c.ID == made.ID && c.RequestedAt.IsZero() || c.ID != made.ID && !c.RequestedAt.IsZero() {
				t.Errorf("%s requested at %v", c.URL, c.RequestedAt)
			}
		}
		f.must(f.RequestCheck(f.Context(), claimed[1].ID))
		requested(made.Seq, claimed[1].Seq)
		if got := f.get(claimed[1].ID); got.ClaimedBy != checker || got.DueAt != claimed[1].DueAt {
			t.Errorf("its claim changed: %+v", got.Schedule)
		}
		for _, c := range claimed {
			f.record(c, up(1))
		}
		requested()
		f.must(f.RequestCheck(f.Context(), made.ID))
		if got := f.only(); got.ID != made.ID || got.RequestedAt != f.Now() {
			t.Errorf("claimed %s, requested at %v", got.URL, got.RequestedAt)
		}
		_, err = f.Edit(f.Context(), made.ID, targets.Edit{Paused: new(true)})
		f.must(err)
		requested()
	})
}

// Names and filters of targets on the same host have their ports.
func TestPortsOfTargets(t *testing.T) {
	each(t, func(f fixture) {
		one, two := f.add("http://127.0.0.1:18700/up"), f.add("http://127.0.0.1:18701/up")
		plain, v6 := f.add("http://127.0.0.1"), f.add("http://[::1]:18700")
		for id, want := range map[string]string{
			one.ID: "127.0.0.1:18700/up", two.ID: "127.0.0.1:18701/up", plain.ID: "127.0.0.1", v6.ID: "[::1]:18700",
		} {
			if got := f.get(id).DisplayTitle(); got != want {
				t.Errorf("title %q, want %q", got, want)
			}
		}
		for host, want := range map[string]int{"127.0.0.1:18700": 1, "127.0.0.1": 3, "[::1]:18700": 1, "127.0.0.1:9": 0} {
			page, err := f.List(f.Context(), targets.Filter{Host: host}, models.Cursor{}, 50)
			f.must(err)
			if len(page.Items) != want {
				t.Errorf("host=%s: %d targets, want %d", host, len(page.Items), want)
			}
		}
		for _, c := range f.claim() {
			f.record(c, down())
		}
		for _, r := range f.results(targets.ResultFilter{TargetID: one.ID}) {
			if r.TargetTitle() != "127.0.0.1:18700/up" {
				t.Errorf("title of a result: %q", r.TargetTitle())
			}
		}
		for _, o := range f.outages(two.ID) {
			if o.TargetTitle() != "127.0.0.1:18701/up" {
				t.Errorf("title of an outage: %q", o.TargetTitle())
			}
		}
		if len(f.outages(two.ID)) != 1 {
			t.Error("no outage")
		}
	})
}
