package alerts_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"linkwatch/models/alerts"
	"linkwatch/models/event"
)

func TestOutageAfterAStormHasItsOwnMessage(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c)
		var events []event.Event
		for i := range 40 {
			events = append(events, w.down(fmt.Sprintf("t%d@h%d.test", i, i), 1))
		}
		w.happen(events...)
		if got := w.sent(c); len(got) != 6 {
			w.Fatalf("%d messages", len(got))
		}
		w.pass(3 * time.Minute)
		w.happen(w.down("shop@a.test", 1))
		w.expect(c, "fired shop is down: "+downText)
	})
}

func TestSubjectThatJoinsLaterIsSent(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c)
		w.happen(w.down("old@a.test", 1))
		w.happen(w.down("same@a.test", 1)) // same outage
		w.expect(c, "fired old is down: "+downText)
		w.pass(27 * time.Second)
		w.expect(c)
		w.happen(w.down("third@a.test", 1))
		w.pass(time.Second)
		w.expect(c, "worse 2 more targets on a.test are down: "+downText+" (3 targets on a.test are down)")
		w.pass(time.Hour)
		w.happen(w.down("new@a.test", 1))
		w.expect(c, "worse new is down: "+downText+" (4 targets on a.test are down)")
		w.happen(w.down("new@a.test", 2))
		w.expect(c)
	})
}

func TestRuleSendsOnlyMatchingEvents(t *testing.T) {
	each(t, func(w *world) {
		c, scoped := w.channel("c"), w.channel("scoped")
		w.rule(c)
		w.rule(scoped, func(r *alerts.Rule) { r.Scope.Targets = alerts.List{targetID("mine")} })
		w.happen(w.down("other@a.test", 1))
		w.expect(scoped)
		for range 2 {
			w.happen(w.down("mine@a.test", 1))
			if got := w.sent(scoped); len(got) != 1 || !strings.HasSuffix(got[0], " mine is down: "+downText) {
				w.Fatalf("%q", got)
			}
			w.happen(w.up("mine@a.test"))
			w.expect(scoped, "fired mine is up again after 1 s")
			w.pass(time.Minute)
		}
	})
}

func TestEnabledRuleSendsAgain(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		r := w.rule(c, func(r *alerts.Rule) { r.Events, r.AfterMinutes = alerts.List{"page.changed", "target.down"}, 1 })
		set := func(enabled bool) {
			_, err := w.EditRule(w.Context(), r.ID, func(r *alerts.Rule) { r.Enabled = enabled })
			w.ok(err)
		}
		w.happen(w.down("shop@a.test", 1))
		set(false)
		w.pass(2 * time.Minute)
		set(true)
		w.happen(w.down("shop@a.test", 2))
		w.pass(2 * time.Minute)
		w.expect(c, "fired shop is down: "+downText)
	})
}

func TestUncheckedSubjectLeavesItsAlert(t *testing.T) {
	each(t, func(w *world) {
		c, later := w.channel("c"), w.channel("later")
		w.rule(c, func(r *alerts.Rule) { r.RepeatMinutes = 1 })
		w.rule(later, func(r *alerts.Rule) { r.AfterMinutes = 1 })
		w.happen(w.down("shop@a.test", 1))
		w.sent(c)
		w.happen(w.event("target.down", event.Closed, "shop@a.test", 0))
		w.pass(5 * time.Minute)
		w.expect(c)
		w.expect(later)

		w.happen(w.down("first@b.test", 1), w.down("second@b.test", 1))
		w.expect(c, "fired 2 targets on b.test are down: "+downText)
		w.happen(w.up("second@b.test"))
		w.happen(w.event("target.down", event.Closed, "first@b.test", 0))
		w.expect(c, "fired second is up again after 1 s (1 target on b.test is still down)")
	})
}

func TestEscalationChannelsGetTheRecovery(t *testing.T) {
	each(t, func(w *world) {
		c, boss := w.channel("c"), w.channel("boss")
		w.rule(c, func(r *alerts.Rule) {
			r.EscalateAfterMinutes, r.RepeatMinutes, r.EscalateChannels = 5, 5, alerts.List{boss.ID}
		})
		w.happen(w.down("shop@a.test", 1))
		w.pass(6 * time.Minute)
		w.expect(boss, "escalated shop is down: "+downText)
		w.happen(w.up("shop@a.test"))
		w.expect(boss, "fired shop is up again after 6 min 1 s")
	})
}

func TestUnacknowledgeRestartsReminders(t *testing.T) {
	each(t, func(w *world) {
		c, boss := w.channel("c"), w.channel("boss")
		w.rule(c, func(r *alerts.Rule) {
			r.RepeatMinutes, r.EscalateAfterMinutes, r.EscalateChannels = 10, 15, alerts.List{boss.ID}
		})
		w.happen(w.down("shop@a.test", 1))
		w.sent(c)
		page, err := w.Alerts(w.Context(), alerts.Firing, zeroCursor, 10)
		w.ok(err)
		_, err = w.Acknowledge(w.Context(), page.Items[0].ID)
		w.ok(err)
		w.pass(time.Hour)
		w.expect(c)
		_, err = w.Unacknowledge(w.Context(), page.Items[0].ID)
		w.ok(err)
		w.pass(time.Second)
		w.pass(16 * time.Minute)
		w.expect(c, "repeated shop is down: "+downText)
		w.expect(boss, "escalated shop is down: "+downText)
	})
}

func TestMaintenanceIsCheckedWhenAMessageIsDue(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c, func(r *alerts.Rule) { r.RepeatMinutes = 10 })
		w.happen(w.down("one@a.test", 1), w.down("two@a.test", 1))
		w.expect(c, "fired 2 targets on a.test are down: "+downText)
		m, err := w.AddMaintenance(w.Context(), alerts.Maintenance{
			Name: "Both", StartsAt: w.Now(), EndsAt: w.Now().Add(24 * time.Hour), Scope: alerts.Scope{Targets: alerts.List{targetID("one"), targetID("two")}},
		})
		w.ok(err)
		w.pass(time.Hour)
		w.expect(c)
		w.ok(w.DeleteMaintenance(w.Context(), m.ID)) // ends early
		w.pass(2 * time.Minute)
		w.expect(c, "repeated 2 targets on a.test are down: "+downText)
	})
}
