package alerts_test

import (
	"slices"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
)

// listed fails the test unless exactly these alerts are listed, newest first, as "target.down" or "target.up resolved".
func (w *world) listed(want ...string) []alerts.Alert {
	w.Helper()
	page, err := w.Alerts(w.Context(), alerts.AnyState, models.Cursor{}, 50)
	w.ok(err)
	var got []string
	for _, a := range page.Items {
		text := string(a.Event)
		if !a.Open() {
			text += " resolved"
		}
		got = append(got, text)
	}
	if !slices.Equal(got, want) {
		w.Errorf("listed are %q, want %q", got, want)
	}
	at, err := w.Attention(w.Context(), 5)
	w.ok(err)
	open := 0
	for _, n := range at.Unacknowledged {
		open += n
	}
	if wantOpen := len(slices.DeleteFunc(slices.Clone(page.Items), func(a alerts.Alert) bool { return !a.Open() })); open != wantOpen {
		w.Errorf("%d alerts need attention, want %d", open, wantOpen)
	}
	return page.Items
}

func (w *world) alertCount() (n int64) {
	w.Helper()
	w.ok(w.db.Read(w.Context()).Model(&alerts.Alert{}).Count(&n).Error)
	return n
}

func onlyEvents(kinds ...string) func(*alerts.Rule) {
	return func(r *alerts.Rule) { r.Events = kinds }
}

// The recovery of a target is no alert if no rule sends it.
func TestRecoveryWithoutARule(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c, onlyEvents("target.down"))
		w.happen(w.down("a@h.test", 1))
		w.expect(c, "fired a is down: "+downText)
		w.listed("target.down")
		w.happen(w.up("a@h.test"))
		w.expect(c)
		w.listed("target.down resolved")
		if n := w.alertCount(); n != 1 {
			w.Errorf("%d alerts are stored", n)
		}
	})
}

// A rule for recoveries only sends them, but an outage that no rule sends is no alert. A rule that is added later sends it.
func TestOutageWithoutARule(t *testing.T) {
	each(t, func(w *world) {
		c, late := w.channel("c"), w.channel("late")
		w.rule(c, onlyEvents("target.up"))
		w.happen(w.down("a@h.test", 1))
		w.listed()
		w.happen(w.up("a@h.test"))
		w.expect(c, "fired a is up again after 1 s")
		if end := w.listed("target.up resolved")[0]; end.EndsID != "" {
			w.Errorf("it ends %q, which is not listed", end.EndsID)
		}
		w.happen(w.down("a@h.test", 1))
		w.rule(late)
		w.happen(w.down("a@h.test", 2))
		w.expect(late, "fired a is down: "+downText)
		w.expect(c)
		w.happen(w.up("a@h.test"))
		w.expect(late, "fired a is up again after 2 s")
		w.expect(c, "fired a is up again after 2 s")
		w.listed("target.up resolved", "target.down resolved", "target.up resolved")
	})
}

// A target that flaps does not flood a rule for recoveries.
func TestFlappingRecoveriesOnly(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c, onlyEvents("target.up"))
		for range 6 {
			w.happen(w.down("a@h.test", 1))
			w.minutes(1)
			w.happen(w.up("a@h.test"))
			w.minutes(1)
		}
		if got := w.sent(c); len(got) != 3 {
			w.Errorf("sent %q", got)
		}
		w.minutes(20)
		if got := w.sent(c); len(got) != 1 {
			w.Errorf("when it is stable: %q", got)
		}
		w.listed("target.up resolved", "target.up resolved", "target.up resolved", "target.up resolved")
	})
}

// Events that match no rule are dropped: the rule is disabled, deleted, for other targets, private to another owner, or sends other events.
// Later events are alerts of a later rule.
func TestEventsWithoutARule(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c, func(r *alerts.Rule) { r.Enabled = false })
		w.rule(c, func(r *alerts.Rule) { r.Scope.Targets = alerts.List{targetID("other")} })
		w.rule(c, onlyEvents("system.failed"))
		w.ok(w.DeleteRule(w.Context(), w.rule(c).ID))
		w.ruleOf("bob", true, w.channel("bobs"))
		mine := w.down("mine@h.test", 1)
		mine.PrivateTo = "alice"
		once := w.event("page.changed", event.Once, "page@h.test", 0)
		w.happen(mine, once)
		w.pass(time.Hour)
		if n := w.alertCount(); n != 0 {
			w.Errorf("%d alerts are stored", n)
		}
		w.listed()
		w.rule(c, onlyEvents("page.changed"))
		w.pass(time.Hour)
		w.listed() // earlier events are gone
		w.happen(once)
		w.expect(c, "fired page changed")
		w.listed("page.changed resolved")
	})
}

// An alert whose rule is disabled, deleted or changed is still resolved, without a message and without an alert of its end.
func TestAlertWithoutItsRuleIsResolved(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		for name, change := range map[string]func(alerts.Rule) error{
			"disabled": func(r alerts.Rule) error {
				_, err := w.EditRule(w.Context(), r.ID, func(r *alerts.Rule) { r.Enabled = false })
				return err
			},
			"deleted": func(r alerts.Rule) error { return w.DeleteRule(w.Context(), r.ID) },
			"events": func(r alerts.Rule) error {
				_, err := w.EditRule(w.Context(), r.ID, onlyEvents("system.failed"))
				return err
			},
		} {
			r := w.rule(c)
			w.happen(w.down(name+"@h.test", 1))
			w.sent(c)
			w.listed("target.down")
			w.ok(change(r))
			w.minutes(2)
			w.happen(w.up(name + "@h.test"))
			w.expect(c)
			w.listed("target.down resolved")
			w.ok(w.db.Write(w.Context(), func(tx *gorm.DB) error { return tx.Exec("DELETE FROM alerts").Error }))
			if name != "deleted" {
				w.ok(w.DeleteRule(w.Context(), r.ID))
			}
		}
	})
}

// Quiet hours list what their rule sends, and nothing else.
func TestQuietHoursListOnlyWhatTheirRuleSends(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c, onlyEvents("target.up"), func(r *alerts.Rule) { r.Quiet = w.quiet(time.Hour) })
		w.happen(w.down("a@h.test", 1))
		w.minutes(2)
		w.listed()
		w.rule(c, onlyEvents("target.down"), func(r *alerts.Rule) { r.Quiet = w.quiet(time.Hour) })
		w.happen(w.down("a@h.test", 2))
		w.listed("target.down")
		w.minutes(70)
		w.expect(c, "fired a is down: "+downText)
		w.happen(w.up("a@h.test"))
		w.expect(c, "fired a is up again after 1 h 12 min")
		w.listed("target.up resolved", "target.down resolved")
	})
}
