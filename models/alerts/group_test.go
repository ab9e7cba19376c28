package alerts_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
)

// messages returns the messages to a channel since the last call, or since the last call of sent.
func (w *world) messages(c alerts.Channel) (all []alerts.Notification) {
	w.Helper()
	var bodies []string
	w.ok(w.db.Read(w.Context()).Raw("SELECT body FROM deliveries WHERE channel_seq = ? AND status = 'pending' ORDER BY seq", c.Seq).Scan(&bodies).Error)
	for _, b := range bodies {
		var n alerts.Notification
		w.ok(json.Unmarshal([]byte(b), &n))
		all = append(all, n)
	}
	w.ok(w.db.Write(w.Context(), func(tx *gorm.DB) error {
		return tx.Exec("UPDATE deliveries SET status = 'delivered' WHERE channel_seq = ?", c.Seq).Error
	}))
	return all
}

// states are the subjects of a message with their states: "new shop: unexpected status 500".
func states(n alerts.Notification) (all []string) {
	for _, s := range n.Subjects {
		all = append(all, s.State+" "+s.Name+": "+s.Cause)
	}
	return all
}

// message returns the only message to a channel, and fails the test unless its subjects have these states.
func (w *world) message(c alerts.Channel, want ...string) alerts.Notification {
	w.Helper()
	all := w.messages(c)
	if len(all) != 1 {
		w.Fatalf("got %d messages: %+v", len(all), all)
	}
	if got := states(all[0]); !slices.Equal(got, want) {
		w.Fatalf("the subjects are\n%q\nwant\n%q", got, want)
	}
	return all[0]
}

func (w *world) because(e event.Event, why string) event.Event {
	e.Detail = why
	return e
}

// Each target of a grouped message has its own state and cause. Recoveries are sent while other targets are down.
func TestStatesOfSubjects(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c)
		w.happen(w.because(w.down("a@h.test:8443", 1), "timeout"), w.down("b@h.test:8443", 1))
		n := w.message(c, "new a: timeout", "new b: "+downText)
		if n.Subject.Name != "a" || n.SubjectCount != 2 || n.Message != "2 targets on h.test:8443 are down" {
			t.Errorf("%+v", n)
		}
		down := n.ID
		w.happen(w.up("a@h.test:8443"))
		n = w.message(c, "recovered a: timeout", "down b: "+downText)
		if n.Event != "target.up" || n.Ends != nil || n.PartOf == nil || *n.PartOf != down || n.Subject.Name != "a" {
			t.Errorf("%+v", n)
		}
		w.happen(w.because(w.down("x@h.test:8443", 1), "DNS"))
		w.pass(30 * time.Second)
		n = w.message(c, "new x: DNS", "down b: "+downText, "recovered a: timeout")
		if n.ID != down || n.Subject.Name != "x" || n.Reason != "worse" || n.Message != "x is down: DNS (2 targets on h.test:8443 are down)" {
			t.Errorf("%+v", n)
		}
		w.happen(w.up("b@h.test:8443"), w.up("x@h.test:8443"))
		n = w.message(c, "recovered b: "+downText, "recovered x: DNS")
		if n.Ends == nil || *n.Ends != down || n.PartOf != nil {
			t.Errorf("%+v", n)
		}
	})
}

// Outages on several ports of a host are separate alerts.
func TestPortsOfAHost(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c)
		w.happen(w.down("a@h.test:1", 1), w.down("b@h.test:2", 1))
		w.expect(c, "fired a is down: "+downText, "fired b is down: "+downText)
		w.happen(w.up("b@h.test:2"))
		w.expect(c, "fired b is up again after 1 s")
	})
}

// A target that recovers before its outage is sent is not sent at all.
func TestRecoveryOfAnOutageThatWasNotSent(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c)
		w.happen(w.down("a@h.test", 1))
		w.expect(c, "fired a is down: "+downText)
		w.happen(w.down("b@h.test", 1))
		w.happen(w.up("b@h.test"))
		w.pass(time.Hour)
		w.expect(c)
		w.happen(w.down("b@h.test", 1))
		w.pass(time.Second)
		w.expect(c, "worse b is down: "+downText+" (2 targets on h.test are down)")
		w.happen(w.up("a@h.test"), w.up("b@h.test"))
		w.expect(c, "fired 2 targets on h.test are up again after 1 h")
	})
}

// When everything that a channel was sent is up, the message resolves the alert of the channel.
func TestRecoveryOfEverythingThatWasSent(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c)
		w.happen(w.down("a@h.test", 1))
		down := w.message(c, "new a: "+downText).ID
		w.happen(w.down("b@h.test", 1)) // held
		w.happen(w.up("a@h.test"))
		if n := w.message(c, "recovered a: "+downText); n.Ends == nil || *n.Ends != down {
			t.Errorf("%+v", n)
		}
		w.happen(w.up("b@h.test"))
		w.expect(c)
	})
}

// Silence after an acknowledgement ends only when a target fails that was not in the alert.
// A target of an acknowledged alert of many hosts stays silent if it fails again, however long after the storm.
func TestAcknowledgedStormIsSilent(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c)
		var events []event.Event
		for i := range 20 {
			events = append(events, w.down(fmt.Sprintf("t%d@h%d.test", i, i), 1))
		}
		w.happen(events...)
		w.sent(c)
		w.happen(w.up("t0@h0.test")) // an alert of its own
		for _, id := range w.open() {
			_, err := w.Acknowledge(w.Context(), id)
			w.ok(err)
		}
		w.happen(w.up("t19@h19.test"))
		w.pass(time.Hour)
		w.sent(c)
		w.happen(w.down("t19@h19.test", 1))
		w.pass(time.Hour)
		w.expect(c)
		w.happen(w.down("t0@h0.test", 1))
		w.expect(c, "fired t0 is down: "+downText)
	})
}

func TestSilenceAfterAnAcknowledgement(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c, func(r *alerts.Rule) { r.RepeatMinutes = 10 })
		w.happen(w.down("a@h.test", 1), w.down("b@h.test", 1))
		w.happen(w.down("held@h.test", 1)) // not sent yet
		w.sent(c)
		id := w.open()[0]
		_, err := w.Acknowledge(w.Context(), id)
		w.ok(err)
		w.pass(time.Hour)
		w.expect(c)
		w.happen(w.up("a@h.test"))
		w.expect(c, "fired a is up again after 1 h (2 targets on h.test are still down)") // with held, which the message names
		w.happen(w.down("a@h.test", 1))
		w.happen(w.down("b@h.test", 100))
		w.pass(time.Hour)
		w.expect(c)
		if a, err := w.Alert(w.Context(), id); err != nil || a.AcknowledgedAt.IsZero() {
			t.Errorf("%+v, %v", a, err)
		}
		w.happen(w.down("new@h.test", 1))
		w.expect(c, "worse new is down: "+downText+" (4 targets on h.test are down)")
		if a, err := w.Alert(w.Context(), id); err != nil || !a.AcknowledgedAt.IsZero() {
			t.Errorf("%+v, %v", a, err)
		}
		w.pass(10 * time.Minute)
		w.expect(c, "repeated new is down: "+downText)
	})
}

// Some targets of an alert can be acknowledged.
func TestAcknowledgeSomeSubjects(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c, func(r *alerts.Rule) { r.RepeatMinutes = 10 })
		w.happen(w.down("a@h.test", 1), w.down("b@h.test", 1))
		w.sent(c)
		id := w.open()[0]
		a, err := w.Acknowledge(w.Context(), id, targetID("a"))
		w.ok(err)
		if !a.AcknowledgedAt.IsZero() {
			t.Error("the alert is acknowledged")
		}
		w.pass(10 * time.Minute)
		w.expect(c, "repeated b is down: "+downText)
		_, err = w.Acknowledge(w.Context(), id, targetID("other"))
		w.code(err, models.CodeInvalid)
		a, err = w.Acknowledge(w.Context(), id, targetID("b"), targetID("b"))
		w.ok(err)
		if a.AcknowledgedAt.IsZero() {
			t.Error("the alert is not acknowledged")
		}
		w.pass(time.Hour)
		w.expect(c)
		_, err = w.Unacknowledge(w.Context(), id)
		w.ok(err)
		w.pass(time.Second)
		w.pass(11 * time.Minute)
		w.expect(c, "repeated 2 targets on h.test are down: "+downText)
	})
}

// A channel gets one message for each change, however many rules match, also rules that are added during the outage.
func TestOneMessageForEachChange(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c)
		w.rule(c, func(r *alerts.Rule) { r.AfterFailures = 2 })
		for i := range 2 {
			w.happen(w.down("a@h.test", i+1))
		}
		w.rule(c)
		w.happen(w.down("a@h.test", 3))
		w.expect(c, "fired a is down: "+downText)
		w.pass(time.Minute)
		for i := range 3 {
			w.happen(w.down("b@h.test", i+1))
		}
		w.minutes(1)
		w.expect(c, "worse b is down: "+downText+" (2 targets on h.test are down)")
		w.happen(w.up("b@h.test"))
		w.rule(c)
		w.happen(w.down("a@h.test", 4))
		w.minutes(1)
		w.expect(c, "fired b is up again after 1 min 3 s (1 target on h.test is still down)")
		w.happen(w.up("a@h.test"))
		w.minutes(1)
		if got := w.sent(c); len(got) != 1 || !strings.HasPrefix(got[0], "fired a is up again") {
			t.Errorf("%q", got)
		}
	})
}

// A rule can wait for more targets before its first message.
func TestRuleWaitsForMoreSubjects(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c, func(r *alerts.Rule) { r.GroupWaitSeconds = 60 })
		w.happen(w.down("a@h.test", 1))
		w.pass(30 * time.Second)
		w.happen(w.down("b@h.test", 1))
		w.expect(c)
		w.pass(27 * time.Second)
		w.expect(c)
		w.pass(time.Second)
		w.expect(c, "fired 2 targets on h.test are down: "+downText)
	})
}
