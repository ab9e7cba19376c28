package alerts_test

import (
	"fmt"
	"testing"
	"time"

	"linkwatch/models/alerts"
	"linkwatch/models/event"
)

const downText = "unexpected status 500"

func TestDownAndUpAreSent(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c)
		w.happen(w.down("shop@a.test", 1))
		w.expect(c, "fired shop is down: "+downText)
		w.happen(w.down("shop@a.test", 2), w.down("shop@a.test", 3))
		w.expect(c)
		w.pass(5*time.Minute - 2*time.Second)
		w.happen(w.up("shop@a.test"))
		w.expect(c, "fired shop is up again after 5 min")
		w.pass(time.Hour)
		w.expect(c)
	})
}

func TestOneMessagePerOutageOfAHost(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c)
		var first, second []event.Event
		for i := range 50 {
			e := w.down(fmt.Sprintf("t%d@a.test", i), 1)
			if i < 25 {
				first = append(first, e)
			} else {
				second = append(second, e)
			}
		}
		w.happen(append(first, w.down("other@b.test", 1))...)
		w.happen(second...)
		w.expect(c, "fired 25 targets on a.test are down: "+downText, "fired other is down: "+downText)
		for i := range 49 {
			w.happen(w.up(fmt.Sprintf("t%d@a.test", i)))
		}
		w.expect(c, "fired t0 is up again after 2 s (24 targets on a.test are still down)",
			"worse 21 targets on a.test are down: "+downText, // when four had recovered
			"fired 26 targets on a.test are up again after 32 s (19 targets on a.test are still down)")
		w.pass(9 * time.Second)
		w.happen(w.up("t49@a.test"))
		w.expect(c, "fired 19 targets on a.test are up again after 1 min")
	})
}

func TestStormIsOneMessage(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c)
		var events []event.Event
		for i := range 300 {
			events = append(events, w.down(fmt.Sprintf("t%d@h%d.test", i, i), 1))
		}
		w.happen(events...)
		got := w.sent(c)
		if len(got) != 6 || got[5] != "fired 295 targets are down: "+downText {
			t := got[max(0, len(got)-2):]
			w.Fatalf("%d messages, the last %q", len(got), t)
		}
		for i := range events {
			events[i] = w.up(fmt.Sprintf("t%d@h%d.test", i, i))
		}
		w.happen(events...)
		if got := w.sent(c); len(got) != 6 {
			w.Errorf("%d messages of their end: %q", len(got), got)
		}
	})
}

func TestFlappingIsSentOnce(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c)
		for range 3 {
			w.happen(w.down("shop@a.test", 1))
			w.happen(w.up("shop@a.test"))
		}
		if got := w.sent(c); len(got) != 6 {
			w.Fatalf("%q", got)
		}
		for range 5 {
			w.happen(w.down("shop@a.test", 1))
			w.happen(w.up("shop@a.test"))
		}
		w.expect(c, "fired shop is down (flapping: 4 times within an hour): "+downText)
		w.pass(alerts.StableTime - 2*time.Second)
		w.expect(c)
		w.pass(time.Minute)
		w.expect(c, "fired shop is up again after 9 s")
		w.pass(time.Hour)
		w.happen(w.down("shop@a.test", 1))
		w.expect(c, "fired shop is down: "+downText)
	})
}

func TestRuleWaitsForFailuresAndMinutes(t *testing.T) {
	each(t, func(w *world) {
		failures, minutes := w.channel("failures"), w.channel("minutes")
		w.rule(failures, func(r *alerts.Rule) { r.AfterFailures = 3 })
		w.rule(minutes, func(r *alerts.Rule) { r.AfterMinutes = 5 })
		w.happen(w.down("shop@a.test", 1))
		w.happen(w.down("shop@a.test", 2))
		w.expect(failures)
		w.happen(w.down("shop@a.test", 3))
		w.expect(failures, "fired shop is down: "+downText)
		w.pass(4 * time.Minute)
		w.expect(minutes)
		w.pass(time.Minute)
		w.expect(minutes, "fired shop is down: "+downText)
		w.happen(w.up("shop@a.test"))
		w.sent(failures)
		w.sent(minutes)
		// A condition that ends before the delay is not sent.
		w.happen(w.down("shop@a.test", 1))
		w.happen(w.up("shop@a.test"))
		w.pass(10 * time.Minute)
		w.expect(failures)
		w.expect(minutes)
	})
}

func TestQuietHoursHoldMessages(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		now := w.Now().UTC()
		from, to := now.Add(-time.Hour).Format("15:04"), now.Add(time.Hour).Format("15:04")
		w.rule(c, func(r *alerts.Rule) { r.Quiet = alerts.Quiet{From: from, To: to, TimeZone: "UTC"} })
		w.happen(w.down("short@a.test", 1))
		w.happen(w.down("long@b.test", 1))
		w.happen(w.up("short@a.test"))
		w.expect(c)
		w.pass(2 * time.Hour)
		w.expect(c, "fired long is down: "+downText)
	})
}

func TestMaintenanceSilencesAlerts(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c)
		w.rule(c, func(r *alerts.Rule) { r.Events = alerts.List{"page.changed"} })
		_, err := w.AddMaintenance(w.Context(), alerts.Maintenance{
			Name: "Upgrade", StartsAt: w.Now(), EndsAt: w.Now().Add(time.Hour), Scope: alerts.Scope{Targets: alerts.List{targetID("short"), targetID("long")}},
		})
		w.ok(err)
		in, err := w.InMaintenance(w.Context(), []alerts.Target{{ID: targetID("short")}, {ID: targetID("other")}})
		w.ok(err)
		if !in[targetID("short")] || in[targetID("other")] {
			w.Errorf("in maintenance: %v", in)
		}
		w.happen(w.down("short@a.test", 1), w.down("long@b.test", 1), w.down("other@c.test", 1))
		w.happen(w.up("short@a.test"))
		w.expect(c, "fired other is down: "+downText)
		w.pass(time.Hour)
		w.expect(c, "fired long is down: "+downText)
	})
}

func TestRemindersAndEscalation(t *testing.T) {
	each(t, func(w *world) {
		c, boss := w.channel("c"), w.channel("boss")
		w.rule(c, func(r *alerts.Rule) {
			r.RepeatMinutes, r.EscalateAfterMinutes, r.EscalateChannels = 10, 15, alerts.List{boss.ID}
		})
		w.happen(w.down("shop@a.test", 1))
		w.expect(c, "fired shop is down: "+downText)
		w.pass(10 * time.Minute)
		w.expect(c, "repeated shop is down: "+downText)
		w.expect(boss)
		w.pass(6 * time.Minute)
		w.expect(boss, "escalated shop is down: "+downText)
		page, err := w.Alerts(w.Context(), alerts.Unacknowledged, zeroCursor, 10)
		w.ok(err)
		_, err = w.Acknowledge(w.Context(), page.Items[0].ID)
		w.ok(err)
		w.pass(time.Hour)
		w.expect(c)
		w.expect(boss)
	})
}

func TestSilenceHoldsMessages(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c, func(r *alerts.Rule) { r.RepeatMinutes = 10 })
		w.happen(w.down("shop@a.test", 1))
		w.sent(c)
		page, err := w.Alerts(w.Context(), alerts.Firing, zeroCursor, 10)
		w.ok(err)
		silenced, err := w.Silence(w.Context(), page.Items[0].ID, time.Hour)
		w.ok(err)
		w.pass(59 * time.Minute)
		w.expect(c)
		if w.Notification(silenced, nil, nil).SilencedUntil == nil {
			w.Error("it is not silenced")
		}
		w.pass(2 * time.Minute)
		w.expect(c, "repeated shop is down: "+downText)
		if until := w.Notification(silenced, nil, nil).SilencedUntil; until != nil {
			w.Errorf("it is silenced until %s, which is past", until)
		}
		// The recovery is sent immediately.
		_, err = w.Silence(w.Context(), page.Items[0].ID, time.Hour)
		w.ok(err)
		w.happen(w.up("shop@a.test"))
		w.expect(c, "fired shop is up again after 1 h 1 min")
	})
}

func TestEventsWithoutDurationAreGrouped(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c, func(r *alerts.Rule) { r.Events = alerts.List{"page.changed"} })
		w.happen(w.event("page.changed", event.Once, "home@a.test", 0), w.event("page.changed", event.Once, "news@a.test", 0))
		w.expect(c, "fired 2 pages on a.test changed")
		for i := range 5 { // same host, within five minutes
			w.happen(w.event("page.changed", event.Once, fmt.Sprintf("page%d@a.test", i), 0))
			w.expect(c)
		}
		w.happen(w.event("page.changed", event.Once, "home@b.test", 0))
		w.expect(c, "fired home changed")
		w.pass(5 * time.Minute)
		w.expect(c, "fired 5 pages on a.test changed")
		page, err := w.Alerts(w.Context(), alerts.Firing, zeroCursor, 10)
		w.ok(err)
		if len(page.Items) != 0 {
			w.Errorf("%+v", page.Items)
		}
	})
}

func TestRecoveryIsSentByTheSameAlert(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c, func(r *alerts.Rule) { r.Events = alerts.List{"system.failed"} })
		w.happen(w.event("system.failed", event.Started, "reaper", 0))
		w.expect(c, "fired reaper fails: "+downText)
		w.happen(w.event("system.failed", event.Ended, "reaper", 0))
		w.expect(c, "resolved reaper fails: "+downText)
	})
}

func TestChannelOfTwoRulesGetsOneMessage(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c)
		w.rule(c)
		w.happen(w.down("shop@a.test", 1))
		w.expect(c, "fired shop is down: "+downText)
		w.happen(w.up("shop@a.test"))
		w.expect(c, "fired shop is up again after 1 s")
	})
}

func TestRuleForRecoveryOnly(t *testing.T) {
	each(t, func(w *world) {
		c, d := w.channel("c"), w.channel("d")
		w.rule(c, func(r *alerts.Rule) { r.Events = alerts.List{"target.up"} })
		w.rule(d, func(r *alerts.Rule) { r.Events = alerts.List{"target.down"} })
		w.happen(w.down("shop@a.test", 1))
		w.expect(c)
		w.expect(d, "fired shop is down: "+downText)
		w.happen(w.up("shop@a.test"))
		w.expect(c, "fired shop is up again after 1 s")
		w.expect(d)
	})
}

func TestTargetThatIsPausedEndsItsAlertSilently(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c)
		w.happen(w.down("shop@a.test", 1))
		w.sent(c)
		w.happen(w.event("target.down", event.Closed, "shop@a.test", 0))
		w.pass(time.Hour)
		w.expect(c)
		page, err := w.Alerts(w.Context(), alerts.Firing, zeroCursor, 10)
		w.ok(err)
		if len(page.Items) != 0 {
			w.Errorf("%+v", page.Items)
		}
	})
}

func TestAlertThatGetsWorseIsSentAgain(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c, func(r *alerts.Rule) { r.Events = alerts.List{"system.failed"} })
		e := w.event("system.failed", event.Started, "disk", 0)
		e.Severity = event.Warning
		w.happen(e)
		w.happen(e)
		w.expect(c, "fired disk fails: "+downText)
		e.Severity = event.Critical
		w.happen(e)
		w.expect(c, "worse disk fails: "+downText)
	})
}
