package alerts_test

import (
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/alerts"
)

// AcknowledgeAll acknowledges several alerts. Its undo does not change alerts that were acknowledged before.
func TestAcknowledgeAll(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c, func(r *alerts.Rule) { r.RepeatMinutes = 10 })
		w.happen(w.down("one@a.test", 1), w.down("two@b.test", 1), w.down("three@c.test", 1), w.down("four@d.test", 1))
		ids := w.open()
		_, err := w.Acknowledge(w.Context(), ids[len(ids)-1])
		w.ok(err)
		w.happen(w.up("four@d.test"))
		w.sent(c)
		w.clock.Advance(time.Second)

		ids = append(ids, "v_unknown", models.NewID(models.KindAlert))
		at, n, err := w.AcknowledgeAll(w.Context(), ids...)
		w.ok(err)
		if n != 2 || !at.Equal(w.Now().Time) {
			t.Errorf("%d alerts acknowledged at %s", n, at)
		}
		w.pass(time.Hour)
		w.expect(c)
		if n, err = w.UnacknowledgeAll(w.Context(), at); n != 2 || err != nil {
			t.Errorf("%d undone, %v", n, err)
		}
		w.pass(time.Second)
		w.pass(11 * time.Minute)
		if got := w.sent(c); len(got) != 2 {
			t.Errorf("reminders after the undo: %q", got)
		}
		if _, n, err = w.AcknowledgeAll(w.Context()); n != 0 || err != nil {
			t.Errorf("without ids: %d, %v", n, err)
		}
		_, _, err = w.AcknowledgeAll(w.Context(), make([]string, alerts.MaxBulk+1)...)
		w.code(err, models.CodeInvalid)
	})
}

func TestSilenceAll(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c, func(r *alerts.Rule) { r.RepeatMinutes = 10 })
		w.happen(w.down("one@a.test", 1), w.down("two@b.test", 1))
		w.sent(c)
		until, n, err := w.SilenceAll(w.Context(), 2*time.Hour, w.open()...)
		w.ok(err)
		if n != 2 || !until.Equal(w.Now().Add(2*time.Hour).Time) {
			t.Errorf("%d alerts silenced until %s", n, until)
		}
		w.pass(time.Hour)
		w.expect(c)
		if n, err = w.UnsilenceAll(w.Context(), until); n != 2 || err != nil {
			t.Errorf("%d undone, %v", n, err)
		}
		w.pass(time.Second)
		if got := w.sent(c); len(got) != 2 {
			t.Errorf("reminders after the undo: %q", got)
		}
		_, _, err = w.SilenceAll(w.Context(), alerts.MaxSilence+1)
		w.code(err, models.CodeInvalid)
	})
}

// open returns the IDs of all open alerts, newest first.
func (w *world) open() (ids []string) {
	w.Helper()
	page, err := w.Alerts(w.Context(), alerts.Firing, zeroCursor, 100)
	w.ok(err)
	for _, a := range page.Items {
		ids = append(ids, a.ID)
	}
	return ids
}

// An alert is acknowledged once all targets that are still down are: also if the other ones recover later.
func TestRecoveryLeavesOnlyAcknowledgedTargets(t *testing.T) {
	each(t, func(w *world) {
		w.rule(w.channel("c"))
		w.happen(w.down("a@h.test", 1), w.down("b@h.test", 1))
		open := w.open()[0]
		a, err := w.Acknowledge(w.Context(), open, targetID("b"))
		w.ok(err)
		if !a.AcknowledgedAt.IsZero() {
			t.Errorf("before: got %+v", a)
		}
		w.happen(w.up("a@h.test"))
		if a, err = w.Alert(w.Context(), open); err != nil || a.AcknowledgedAt.IsZero() || !a.Open() {
			t.Errorf("got %+v, %v", a, err)
		}
	})
}
