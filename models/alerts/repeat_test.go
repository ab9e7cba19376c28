package alerts_test

import (
	"testing"
	"time"

	"linkwatch/models/alerts"
	"linkwatch/models/event"
)

// Each further failure of a crawl is one message for each channel, until the alert is acknowledged. A rule that holds its first message sends
// it once, when the condition has lasted.
func TestFurtherFailuresAreSent(t *testing.T) {
	each(t, func(w *world) {
		c, late := w.channel("c"), w.channel("late")
		jobs := func(r *alerts.Rule) { r.Events = alerts.List{"job.failed"} }
		w.rule(c, jobs)
		w.rule(c, jobs)
		w.rule(late, jobs, func(r *alerts.Rule) { r.AfterMinutes = 60 })
		failed := func(name, detail string) {
			e := w.event("job.failed", event.Started, name, 0)
			e.Detail = detail
			w.happen(e)
		}
		failed("Crawl of Blog@h.test", "broken")
		w.expect(c, "fired Crawl of Blog failed: broken")
		w.minutes(40)
		failed("Crawl of Blog@h.test", "broken (failed 2 times in a row)")
		w.expect(c, "worse Crawl of Blog failed: broken (failed 2 times in a row)")
		w.expect(late)
		w.minutes(20)
		w.expect(late, "fired Crawl of Blog failed: broken (failed 2 times in a row)")

		w.minutes(5)
		failed("Crawl of Blog@h.test", "broken (failed 3 times in a row)")
		w.minutes(1)
		w.expect(c, "worse Crawl of Blog failed: broken (failed 3 times in a row)")
		w.expect(late, "worse Crawl of Blog failed: broken (failed 3 times in a row)")

		// An acknowledged alert stays silent. Another job of the host has an alert of its own.
		open := w.open()[0]
		_, err := w.Acknowledge(w.Context(), open)
		w.ok(err)
		failed("Crawl of Blog@h.test", "broken (failed 4 times in a row)")
		w.minutes(1)
		w.expect(c)
		a, err := w.Alert(w.Context(), open)
		w.ok(err)
		if a.AcknowledgedAt.IsZero() || a.StartedAt.After(w.Now().Add(-time.Hour).Time) {
			t.Errorf("got %+v", a)
		}
		failed("Crawl of News@h.test", "gone")
		w.minutes(1)
		w.expect(c, "fired Crawl of News failed: gone")

		// The recovery of each is sent once, also while the other one fails.
		w.happen(w.event("job.failed", event.Ended, "Crawl of News@h.test", 0))
		w.minutes(1)
		w.expect(c, "resolved Crawl of News failed: gone")
		failed("Crawl of Blog@h.test", "broken (failed 5 times in a row)")
		w.minutes(1)
		w.expect(c)
		w.happen(w.event("job.failed", event.Ended, "Crawl of Blog@h.test", 0))
		w.minutes(1)
		w.expect(c, "resolved Crawl of Blog failed: broken (failed 5 times in a row)")
	})
}

// Further failed checks of a target are no further messages.
func TestFurtherFailedChecksAreNotSent(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c)
		for range 3 {
			w.happen(w.down("a@h.test", 1))
			w.minutes(1)
		}
		w.expect(c, "fired a is down: "+downText)
	})
}
