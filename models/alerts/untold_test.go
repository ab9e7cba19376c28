package alerts_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"linkwatch/models/alerts"
)

// lastBody returns the content of the last message to a channel: its subjects with their states, their number, and the alerts that it ends or
// is part of.
func (w *world) lastBody(c alerts.Channel) (text string) {
	w.Helper()
	var d alerts.Delivery
	w.ok(w.db.Read(w.Context()).Where("channel_seq = ?", c.Seq).Order("seq DESC").Limit(1).Find(&d).Error)
	var n alerts.Notification
	w.ok(json.Unmarshal([]byte(d.Body), &n))
	for _, sub := range n.Subjects {
		text += sub.Name + " " + sub.State + ", "
	}
	return text + fmt.Sprintf("%d, ends %t, part of %t", n.SubjectCount, n.Ends != nil, n.PartOf != nil)
}

// A target that was acknowledged before it was sent is sent as recovered only if a message mentioned it as down. The recovery of another one
// counts it as still down.
func TestRecoveryOfAcknowledgedTargetsThatWereNotSent(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c)
		begin := func() {
			t.Helper()
			w.happen(w.down("a@h.test", 1))
			w.happen(w.down("b@h.test", 1)) // is held for 30 seconds
			_, err := w.Acknowledge(w.Context(), w.open()[0])
			w.ok(err)
			w.pass(time.Minute)
			w.expect(c, "fired a is down: "+downText)
		}
		expect := func(body string, want ...string) {
			t.Helper()
			w.expect(c, want...)
			if got := w.lastBody(c); got != body {
				t.Errorf("got %s, want %s", got, body)
			}
			w.pass(time.Minute)
		}
		begin()
		w.happen(w.up("a@h.test"))
		expect("a recovered, b down, 2, ends false, part of true", "fired a is up again after 1 min 2 s (1 target on h.test is still down)")
		w.happen(w.up("b@h.test"))
		expect("b recovered, 1, ends true, part of false", "fired b is up again after 2 min 2 s")

		w.pass(2 * time.Hour)
		begin()
		w.happen(w.up("b@h.test"))
		w.pass(time.Minute)
		w.expect(c)
		w.happen(w.up("a@h.test"))
		expect("a recovered, 1, ends true, part of false", "fired a is up again after 2 min 3 s")

		w.pass(2 * time.Hour)
		begin()
		w.happen(w.up("a@h.test"), w.up("b@h.test"))
		expect("a recovered, 1, ends true, part of false", "fired a is up again after 1 min 2 s")

		w.pass(2 * time.Hour)
		begin()
		w.happen(w.down("c@h.test", 1))
		w.pass(time.Minute)
		expect("c new, a down, b down, 3, ends false, part of false", "worse c is down: "+downText+" (3 targets on h.test are down)")
		w.happen(w.up("a@h.test"), w.up("b@h.test"), w.up("c@h.test"))
		expect("a recovered, b recovered, c recovered, 3, ends true, part of false", "fired 3 targets on h.test are up again after 3 min 3 s")
	})
}
