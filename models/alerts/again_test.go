package alerts_test

import (
	"fmt"
	"testing"
	"time"

	"linkwatch/models/alerts"
	"linkwatch/models/event"
)

// quiet returns quiet hours that start now.
func (w *world) quiet(d time.Duration) alerts.Quiet {
	return alerts.Quiet{From: w.Now().UTC().Format("15:04"), To: w.Now().UTC().Add(d).Format("15:04"), TimeZone: "UTC"}
}

// minutes advances the clock minute by minute.
func (w *world) minutes(n int) {
	w.Helper()
	for range n {
		w.pass(time.Minute)
	}
}

// A later outage of a target is sent, even while another target keeps the alert open, and each time it happens in a day.
func TestLaterOutagesInAnOpenAlert(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c)
		w.happen(w.down("b@h.test", 1))
		w.expect(c, "fired b is down: "+downText)
		for range 7 {
			w.minutes(40)
			w.happen(w.down("a@h.test", 1))
			w.minutes(10)
			w.expect(c, "worse a is down: "+downText+" (2 targets on h.test are down)")
			w.happen(w.up("a@h.test"))
			w.expect(c, "fired a is up again after 10 min 1 s (1 target on h.test is still down)")
		}
	})
}

// A target that flaps while quiet hours or a silence hold its message is sent afterwards if it is down then.
func TestFlappingWhileMessagesAreHeld(t *testing.T) {
	each(t, func(w *world) {
		c, late := w.channel("c"), w.channel("late")
		w.rule(c, func(r *alerts.Rule) { r.Quiet = w.quiet(time.Hour) })
		w.rule(late, func(r *alerts.Rule) { r.AfterMinutes = 1 })
		for i := range 5 {
			w.happen(w.down("a@h.test", 1))
			if i == 3 {
				_, err := w.Silence(w.Context(), w.open()[0], 10*time.Minute)
				w.ok(err)
			}
			if w.minutes(2); i < 4 {
				w.happen(w.up("a@h.test"))
				w.minutes(2)
			}
		}
		w.sent(late)
		w.minutes(60)
		w.expect(c, "fired a is down (flapping: 5 times within an hour): "+downText)
	})
}

// A target that fails again before its first message is sent when the alert is no longer held.
func TestFlappingBeforeTheFirstMessage(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c)
		w.happen(w.down("a@h.test", 1))
		w.sent(c)
		for range 3 {
			w.happen(w.down("b@h.test", 1))
			w.happen(w.up("b@h.test"))
		}
		w.happen(w.down("b@h.test", 1))
		w.minutes(6)
		w.expect(c, "worse b is down: "+downText+" (2 targets on h.test are down)")
	})
}

// The recovery of a target that was sent as down is always sent.
func TestRecoveryIsSentAfterAShortOutage(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c, func(r *alerts.Rule) { r.AfterMinutes = 10 })
		w.happen(w.down("a@h.test", 1))
		w.minutes(10)
		w.expect(c, "fired a is down: "+downText)
		w.happen(w.down("b@h.test", 1))
		w.happen(w.up("a@h.test"))
		w.happen(w.down("a@h.test", 1)) // for less than ten minutes
		w.happen(w.up("a@h.test"))
		w.happen(w.up("b@h.test"))
		w.expect(c, "fired a is up again after 10 min 2 s")
	})
}

// A rule that sends only recoveries sends no reminders. Neither does a rule whose reminders or event were removed.
func TestRemindersOfChangedRules(t *testing.T) {
	each(t, func(w *world) {
		boss := w.channel("boss")
		remind := func(r *alerts.Rule) {
			r.RepeatMinutes, r.EscalateAfterMinutes, r.EscalateChannels = 10, 20, alerts.List{boss.ID}
		}
		var changed []alerts.Rule
		var cs []alerts.Channel
		for i := range 4 {
			cs = append(cs, w.channel(fmt.Sprint("c", i)))
			changed = append(changed, w.rule(cs[i], remind, func(r *alerts.Rule) {
				if i == 0 {
					r.Events = alerts.List{"target.up"}
				}
			}))
		}
		w.happen(w.down("a@h.test", 1), w.down("b@h.test", 1))
		for i, fn := range []func(*alerts.Rule){
			1: func(r *alerts.Rule) { r.RepeatMinutes, r.EscalateAfterMinutes = 0, 0 },
			2: func(r *alerts.Rule) { r.Events = alerts.List{"target.up"} },
			3: func(r *alerts.Rule) { r.Scope.Targets = alerts.List{targetID("other")} },
		} {
			w.sent(cs[i])
			if fn != nil {
				_, err := w.EditRule(w.Context(), changed[i].ID, fn)
				w.ok(err)
			}
		}
		w.happen(w.down("new@h.test", 1))
		w.minutes(40)
		w.expect(boss)
		w.expect(cs[0])
		w.expect(cs[1], "worse new is down: "+downText+" (3 targets on h.test are down)")
		w.expect(cs[2])
		w.expect(cs[3])
	})
}

// A shorter delay applies to targets that are already down.
func TestDelayIsShortened(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		r := w.rule(c, func(r *alerts.Rule) { r.AfterMinutes = 600 })
		w.happen(w.down("a@h.test", 1))
		w.minutes(10)
		_, err := w.EditRule(w.Context(), r.ID, func(r *alerts.Rule) { r.AfterMinutes = 5 })
		w.ok(err)
		w.minutes(1)
		w.expect(c, "fired a is down: "+downText)
	})
}

// Alerts of events without a duration are resolved even if their rule is deleted before they are sent.
func TestEventsWithoutDurationOfADeletedRule(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		r := w.rule(c, func(r *alerts.Rule) { r.Events, r.Quiet = alerts.List{"page.changed"}, w.quiet(9*time.Hour) })
		w.happen(w.event("page.changed", event.Once, "home@a.test", 0))
		if len(w.open()) != 1 {
			t.Fatal("alert not shown in quiet hours")
		}
		w.ok(w.DeleteRule(w.Context(), r.ID))
		w.pass(25 * time.Hour)
		if open := w.open(); len(open) != 0 {
			t.Errorf("got %d open alerts", len(open))
		}
		w.expect(c)
	})
}

// Events without a duration on many hosts are sent together, even if they happen one after another.
func TestTrickleOverManyHosts(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c, func(r *alerts.Rule) { r.Events = alerts.List{"page.changed"} })
		for i := range 300 {
			w.happen(w.event("page.changed", event.Once, fmt.Sprintf("p%d@h%d.test", i, i), 0))
		}
		w.minutes(6)
		if got := w.sent(c); len(got) > 130 {
			t.Errorf("%d messages of 300 events within five minutes", len(got))
		}
	})
}

// A page that changes in maintenance is not sent, even if the window starts while the message is held.
func TestEventsWithoutDurationInMaintenance(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c, func(r *alerts.Rule) { r.Events = alerts.List{"page.changed"} })
		w.happen(w.event("page.changed", event.Once, "first@a.test", 0))
		w.expect(c, "fired first changed")
		w.happen(w.event("page.changed", event.Once, "second@a.test", 0)) // held for five minutes
		_, err := w.AddMaintenance(w.Context(), alerts.Maintenance{Name: "All", StartsAt: w.Now(), EndsAt: w.Now().Add(time.Hour)})
		w.ok(err)
		w.minutes(90)
		w.expect(c)
	})
}

// If two rules have the same channel, the message with more targets is sent.
func TestEndOfTwoRulesWithOneChannel(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c, func(r *alerts.Rule) { r.AfterMinutes = 10 })
		w.rule(c)
		w.happen(w.down("a@h.test", 1))
		w.minutes(15)
		w.happen(w.down("b@h.test", 1))
		w.expect(c, "fired a is down: "+downText, "worse b is down: "+downText+" (2 targets on h.test are down)")
		w.happen(w.up("b@h.test"))
		w.happen(w.up("a@h.test"))
		w.expect(c, "fired b is up again after 1 s (1 target on h.test is still down)", "fired a is up again after 15 min 3 s")
	})
}
