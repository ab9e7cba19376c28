package alerts_test

import (
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
)

// A list can be limited to an event, a severity, a subject and a time. Filters combine.
func TestFilters(t *testing.T) {
	each(t, func(w *world) {
		w.rule(w.channel("c"), onlyEvents("target.down", "target.up", "system.failed"))
		w.happen(w.down("a@h.test", 1), w.down("b@h.test", 1))
		w.happen(w.up("a@h.test"), w.up("b@h.test"))
		w.pass(time.Hour)
		since := w.Now()
		w.happen(w.down("c@i.test", 1), w.event("system.failed", event.Started, "reaper", 0))
		critical, info := event.Critical, event.Info
		for name, c := range map[string]struct {
			f    alerts.Filter
			want int
		}{
			"all":         {alerts.Filter{}, 4},
			"event":       {alerts.Filter{Event: "target.down"}, 2},
			"severity":    {alerts.Filter{Severity: &info}, 1},
			"second":      {alerts.Filter{Subject: targetID("b")}, 2},
			"since":       {alerts.Filter{Since: since}, 2},
			"combined":    {alerts.Filter{State: alerts.Firing, Event: "target.down", Severity: &critical, Subject: targetID("c"), Since: since}, 1},
			"no match":    {alerts.Filter{Event: "target.up", Severity: &critical}, 0},
			"not a state": {alerts.Filter{State: alerts.Resolved, Subject: targetID("c")}, 0},
		} {
			page, err := w.Filtered(w.Context(), c.f, models.Cursor{}, 50)
			if w.ok(err); len(page.Items) != c.want {
				w.Errorf("%s: %d alerts, want %d", name, len(page.Items), c.want)
			}
		}
		_, err := w.Filtered(w.Context(), alerts.Filter{Event: "target.gone"}, models.Cursor{}, 50)
		w.code(err, models.CodeInvalid)
	})
}
