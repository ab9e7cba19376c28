package alerts_test

import (
	"fmt"
	"testing"
	"time"

	"linkwatch/models/alerts"
	"linkwatch/models/event"
	"linkwatch/models/modelstest"
)

func (w *world) closed(name string) event.Event {
	return w.event("target.down", event.Closed, name, 0)
}

// maintain puts targets into maintenance.
func (w *world) maintain(d time.Duration, names ...string) {
	w.Helper()
	var ids alerts.List
	for _, name := range names {
		ids = append(ids, targetID(name))
	}
	_, err := w.AddMaintenance(w.Context(), alerts.Maintenance{Name: "Upgrade", Scope: alerts.Scope{Targets: ids}, StartsAt: w.Now(), EndsAt: w.Now().Add(d)})
	w.ok(err)
}

// A target that leaves and rejoins its alert in one batch of events is counted once.
func TestTargetThatIsPausedAndFailsAgainAtOnce(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c)
		w.happen(w.down("a@h.test", 1), w.down("b@h.test", 1))
		w.expect(c, "fired 2 targets on h.test are down: "+downText)
		w.happen(w.closed("a@h.test"), w.down("a@h.test", 1))
		w.happen(w.closed("a@h.test"), w.closed("b@h.test"), w.down("other@x.test", 1))
		w.expect(c, "fired other is down: "+downText)
		if waiting, err := event.Pending(w.db.Read(w.Context())); waiting || err != nil {
			w.Errorf("events wait: %v, %v", waiting, err)
		}
	})
}

// Flapping is a state of a target, not of its host: the outage of another target is sent.
func TestTargetsOfAHostThatFailInTurnAreNotFlapping(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c)
		for i := range 5 {
			name := fmt.Sprintf("t%d", i)
			w.happen(w.down(name+"@a.test", 1))
			w.expect(c, "fired "+name+" is down: "+downText)
			w.pass(3 * time.Minute)
			w.happen(w.up(name + "@a.test"))
			w.expect(c, "fired "+name+" is up again after 3 min 1 s")
			w.pass(7 * time.Minute)
		}
	})
}

// A target that joins a flapping alert is sent; the flapping one is not sent again.
func TestTargetThatJoinsAFlappingOne(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c)
		for range 4 {
			w.happen(w.up("shop@a.test"))
			w.happen(w.down("shop@a.test", 1))
		}
		w.sent(c)
		w.happen(w.up("shop@a.test"))
		w.happen(w.down("other@a.test", 1))
		w.expect(c)
		w.pass(5 * time.Minute)
		w.expect(c, "worse other is down (flapping: 5 times within an hour): "+downText)
		w.happen(w.down("shop@a.test", 1))
		w.pass(10 * time.Minute)
		w.expect(c)
	})
}

// An alert that starts and resolves in quiet hours is not sent after them, but it is listed.
func TestFlappingInQuietHoursIsNotSentLater(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		from, to := w.Now().UTC().Format("15:04"), w.Now().UTC().Add(9*time.Hour).Format("15:04")
		w.rule(c, func(r *alerts.Rule) { r.Quiet = alerts.Quiet{From: from, To: to, TimeZone: "UTC"} })
		for range 5 {
			w.happen(w.down("shop@a.test", 1))
			w.pass(time.Minute)
			w.happen(w.up("shop@a.test"))
			w.pass(time.Minute)
		}
		for range 10 {
			w.pass(time.Hour)
		}
		w.expect(c)
		page, err := w.Alerts(w.Context(), alerts.Resolved, zeroCursor, 10)
		w.ok(err)
		if len(page.Items) == 0 {
			w.Error("no alert is in the history")
		}
	})
}

// An alert is shown while quiet hours hold its message, and can be acknowledged. It is then not sent.
func TestAlertIsShownInQuietHours(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		from, to := w.Now().UTC().Add(-time.Hour).Format("15:04"), w.Now().UTC().Add(time.Hour).Format("15:04")
		w.rule(c, func(r *alerts.Rule) { r.Quiet = alerts.Quiet{From: from, To: to, TimeZone: "UTC"} })
		w.happen(w.down("shop@a.test", 1))
		w.expect(c)
		if open := w.open(); len(open) != 1 {
			w.Fatalf("%d alerts are shown", len(open))
		}
		_, err := w.Acknowledge(w.Context(), w.open()[0])
		w.ok(err)
		w.pass(time.Hour)
		w.happen(w.up("shop@a.test"))
		w.expect(c)
	})
}

// A target that is not in maintenance is sent, with its recovery, even if other targets of its host are in maintenance.
func TestMaintenanceOfOtherTargetsOfTheHost(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c)
		var names []string
		var down []event.Event
		for i := range 2 * alerts.MaxSubjects {
			names = append(names, fmt.Sprintf("m%02d", i))
			down = append(down, w.down(names[i]+"@a.test", 1))
		}
		w.maintain(4*time.Hour, names...)
		w.happen(down...)
		w.pass(10 * time.Minute)
		w.happen(w.down("shop@a.test", 1))
		w.expect(c, "fired shop is down: "+downText)
		w.happen(w.up("shop@a.test"))
		w.expect(c, "fired shop is up again after 1 s")
		w.happen(w.up("m00@a.test"))
		w.expect(c)
		w.pass(4 * time.Hour)
		w.expect(c, fmt.Sprintf("fired %d targets on a.test are down: %s", len(names)-1, downText))
	})
}

// A target in maintenance does not join a sent alert. A target that was sent before is not sent again in maintenance.
func TestMaintenanceDuringAnOutage(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c, func(r *alerts.Rule) { r.RepeatMinutes = 30 })
		w.happen(w.down("b@a.test", 1))
		w.expect(c, "fired b is down: "+downText)
		w.maintain(4*time.Hour, "a", "b")
		w.pass(10 * time.Minute)
		w.happen(w.down("a@a.test", 1))
		for range 4 {
			w.pass(30 * time.Minute)
		}
		w.expect(c)
		w.happen(w.up("b@a.test"))
		w.expect(c, "fired b is up again after 2 h 10 min")
	})
}

// Pages that change one after another are sent at most every five minutes.
func TestTrickleOfEventsWithoutDuration(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c, func(r *alerts.Rule) { r.Events = alerts.List{"page.changed"} })
		for i := range 300 {
			w.happen(w.event("page.changed", event.Once, fmt.Sprintf("p%d@a.test", i), 0))
		}
		w.pass(5 * time.Minute)
		w.expect(c, "fired p0 changed", "fired 299 pages on a.test changed")
	})
}

// Each rule sends a target that joins an alert according to its own conditions.
func TestRulesWithDifferentConditions(t *testing.T) {
	each(t, func(w *world) {
		first, third, minutes := w.channel("first"), w.channel("third"), w.channel("minutes")
		w.rule(first)
		w.rule(third, func(r *alerts.Rule) { r.AfterFailures = 3 })
		w.rule(minutes, func(r *alerts.Rule) { r.AfterMinutes = 10 })
		for i := range 3 {
			w.happen(w.down("a@h.test", i+1))
		}
		w.pass(time.Hour)
		for _, c := range []alerts.Channel{first, third, minutes} {
			w.expect(c, "fired a is down: "+downText)
		}
		w.happen(w.down("b@h.test", 1))
		w.happen(w.down("b@h.test", 2))
		w.expect(first, "worse b is down: "+downText+" (2 targets on h.test are down)")
		w.expect(third)
		w.happen(w.down("b@h.test", 3))
		w.expect(third, "worse b is down: "+downText+" (2 targets on h.test are down)")
		w.happen(w.up("b@h.test")) // lasted less than ten minutes
		w.pass(time.Hour)
		w.expect(minutes)
	})
}

// A reminder counts the targets that are still down.
func TestRemindersCountOpenSubjects(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c, func(r *alerts.Rule) { r.RepeatMinutes = 10 })
		w.happen(w.down("a@h.test", 1), w.down("b@h.test", 1), w.down("x@h.test", 1))
		w.expect(c, "fired 3 targets on h.test are down: "+downText)
		w.happen(w.up("a@h.test"), w.up("b@h.test"))
		w.expect(c, "fired 2 targets on h.test are up again after 1 s (1 target on h.test is still down)")
		w.pass(10 * time.Minute)
		w.expect(c, "repeated x is down: "+downText)
		w.happen(w.up("x@h.test"))
		w.expect(c, "fired x is up again after 10 min 2 s")
	})
}

// A rule for one target that is added during the outage of a host sends only that target.
func TestScopedRuleThatIsAddedDuringAnOutage(t *testing.T) {
	each(t, func(w *world) {
		all, scoped := w.channel("all"), w.channel("scoped")
		w.rule(all)
		w.happen(w.down("a@h.test", 1), w.down("b@h.test", 1))
		w.rule(scoped, func(r *alerts.Rule) { r.Scope.Targets = alerts.List{targetID("a")} })
		w.happen(w.down("a@h.test", 50), w.down("b@h.test", 50))
		w.expect(scoped, "fired a is down: "+downText)
		w.happen(w.up("a@h.test"), w.up("b@h.test"))
		w.expect(scoped, "fired a is up again after 2 s")
		w.expect(all, "fired 2 targets on h.test are down: "+downText, "fired 2 targets on h.test are up again after 2 s")
	})
}

// A rule that is disabled and enabled again continues its reminders and sends the recovery.
func TestDisableAndEnableARule(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		r := w.rule(c, func(r *alerts.Rule) { r.RepeatMinutes = 10 })
		enable := func(enabled bool) {
			_, err := w.EditRule(w.Context(), r.ID, func(r *alerts.Rule) { r.Enabled = enabled })
			w.ok(err)
		}
		w.happen(w.down("a@h.test", 1))
		w.expect(c, "fired a is down: "+downText)
		enable(false)
		w.pass(time.Hour)
		w.expect(c)
		enable(true)
		w.pass(time.Second)
		w.expect(c, "repeated a is down: "+downText)
		w.ok(w.DeleteRule(w.Context(), r.ID))
		w.pass(time.Hour)
		_, err := w.RestoreRule(w.Context(), r.ID)
		w.ok(err)
		w.happen(w.up("a@h.test"))
		if got := w.sent(c); len(got) == 0 || got[len(got)-1] != "fired a is up again after 2 h" {
			w.Errorf("%q", got)
		}
	})
}

// A silence that ends early no longer holds messages, also of rules that have not sent the alert yet.
func TestEndOfASilence(t *testing.T) {
	each(t, func(w *world) {
		c, later := w.channel("c"), w.channel("later")
		w.rule(c)
		w.rule(later, func(r *alerts.Rule) { r.AfterMinutes = 1 })
		w.happen(w.down("shop@a.test", 1))
		w.expect(c, "fired shop is down: "+downText)
		_, err := w.Silence(w.Context(), w.open()[0], alerts.MaxSilence)
		w.ok(err)
		w.pass(2 * time.Minute)
		w.expect(later)
		_, err = w.Silence(w.Context(), w.open()[0], 0)
		w.ok(err)
		w.pass(time.Second)
		w.expect(later, "fired shop is down: "+downText)
	})
}

// The first subject of an alert is a target that is down.
func TestFirstSubjectIsStillDown(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c)
		w.happen(w.down("a@h.test", 1), w.down("b@h.test", 1))
		w.happen(w.up("a@h.test"))
		a, err := w.Alert(w.Context(), w.open()[0])
		w.ok(err)
		if got, want := w.Message(a), "b is down: "+downText; got != want {
			w.Errorf("%q, want %q", got, want)
		}
	})
}

// The number of statements of a step does not depend on the number of events and subjects.
func TestStatementsOfManyEvents(t *testing.T) {
	w := newWorld(t, modelstest.New(t))
	w.rule(w.channel("c"))
	count := func(host string, n int) (took, sent int) {
		var down []event.Event
		for i := range n {
			down = append(down, w.down(fmt.Sprintf("%s%d@%s", host, i, host), 1))
		}
		modelstest.AddEvents(w, w.db, down...)
		took = len(modelstest.Sent(t, w.db, func() error { _, err := w.ProcessEvents(w.Context(), n); return err }))
		w.clock.Advance(time.Second)
		sent = len(modelstest.Sent(t, w.db, func() error { _, err := w.QueueMessages(w.Context(), n); return err }))
		return took, sent
	}
	took, sent := count("one", 1)
	if manyTook, manySent := count("many", 200); manyTook != took || manySent != sent {
		t.Errorf("200 events take %d and %d statements, one takes %d and %d", manyTook, manySent, took, sent)
	}
}
