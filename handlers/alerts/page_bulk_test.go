package alerts_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/alerts"
)

// Selected alerts are acknowledged or silenced in bulk. Both can be undone.
func TestBulkOfAlerts(t *testing.T) {
	a := newPagesApp(t)
	a.rule("All", a.channel("Ops"))
	first, second := a.down("First", "status 500"), a.down("Second", "status 500")
	p := a.Get("/alerts")
	apptest.WantCount(t, p, ".selects [data-row] input[form=bulk]", 2)
	apptest.WantCount(t, p, ".selects form#bulk", 1)
	selected := func(more ...string) url.Values {
		v := url.Values{"id": {first.ID, second.ID}, "back": {"/alerts"}}
		for i := 0; i < len(more); i += 2 {
			v.Set(more[i], more[i+1])
		}
		return v
	}
	p = a.Follow("/alerts/bulk", selected("action", "acknowledge"))
	apptest.WantText(t, p, ".flash", "2 alerts acknowledged. Reminders are off.")
	apptest.WantText(t, p, "nav[aria-label=State]", "unacknowledged 0")
	apptest.WantText(t, a.Follow("/alerts/bulk", selected("action", "acknowledge")), ".flash.bad", "Nothing changed")
	again := a.Submit(p, ".flash form")
	apptest.WantText(t, again, ".flash", "Undone.")
	apptest.WantText(t, again, "nav[aria-label=State]", "unacknowledged 2")
	apptest.WantText(t, a.Submit(p, ".flash form"), ".flash.bad", "Could not undo")

	p = a.Follow("/alerts/bulk", selected("minutes", "60"))
	apptest.WantText(t, p, ".flash", "2 alerts silenced. Only recoveries are sent.")
	apptest.WantText(t, p, "#"+first.ID, "silenced until")
	apptest.WantText(t, a.Submit(p, ".flash form"), ".flash", "Undone.")
	a.Follow("/alerts/bulk", selected("minutes", "60"))
	p = a.Follow("/alerts/bulk", selected("minutes", "0"))
	apptest.WantText(t, p, ".flash", "Silence ended.")
	apptest.WantCount(t, p, ".silence", 2)

	apptest.WantText(t, a.Follow("/alerts/bulk", url.Values{"action": {"acknowledge"}}), ".flash.bad", "Select alerts first.")
	apptest.WantText(t, a.Follow("/alerts/bulk", url.Values{"action": {"acknowledge"}, "id": {models.NewID(models.KindAlert)}}), ".flash.bad", "Nothing changed")
	for path, body := range map[string]url.Values{
		"/alerts/bulk":       selected("action", "explode"),
		"/alerts/bulk ":      selected("minutes", "10081"),
		"/alerts/bulk  ":     {"action": {"acknowledge"}, "id": make([]string, alerts.MaxBulk+1)},
		"/alerts/bulk/undo":  {"alerts_acknowledged": {"x"}},
		"/alerts/bulk/undo ": {},
	} {
		apptest.WantStatus(t, a.Post(strings.TrimSpace(path), body), http.StatusBadRequest)
	}
	for _, query := range []string{"alerts_silenced=1.0", "alerts_silenced=x.1", "alerts_acknowledged=1.501", "alerts_acknowledged=1"} {
		apptest.WantCount(t, a.Get("/alerts?"+query), ".flash", 0)
	}
}
