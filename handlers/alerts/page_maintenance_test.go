package alerts_test

import (
	"net/url"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models/alerts"
)

// A target that is in maintenance is marked in the list of targets, on its page and on its status page.
func TestMaintenanceIsShownWithTargets(t *testing.T) {
	a := newPagesApp(t)
	id := a.Do("POST", "/v1/targets", `{"url":"https://shop.test/"}`).Want(201)["id"].(string)
	other := a.Do("POST", "/v1/targets", `{"url":"https://blog.test/"}`).Want(201)["id"].(string)
	a.Do("POST", "/v1/status-pages", `{"title":"Ours","slug":"ours","targets":["`+id+`","`+other+`"]}`).Want(201)
	for _, path := range []string{"/watch", "/watch/" + id, "/status/ours"} {
		if p := a.Get(path); p.Find("#now:contains('in maintenance'), #"+id+":contains('in maintenance'), aside:contains('maintenance')").Length() != 0 {
			t.Errorf("%s: target is not in maintenance", path)
		}
	}
	w, err := a.Alerts.AddMaintenance(a.Context(), alerts.Maintenance{
		Name: hostile, StartsAt: a.Alerts.Now().Add(time.Hour), EndsAt: a.Alerts.Now().Add(2 * time.Hour), Scope: alerts.Scope{Targets: alerts.List{id}},
	})
	a.Must(err)
	apptest.WantText(t, a.Get("/watch/"+id), "aside", "Next maintenance: "+hostile)
	a.Clock.Advance(90 * time.Minute)
	apptest.WantText(t, a.Get("/watch/"+id), "aside", "in maintenance "+hostile)
	apptest.WantCount(t, a.Get("/watch/"+id), `aside a[href="/alerts/maintenance/`+w.ID+`"]`, 1)
	for _, path := range []string{"/watch", "/status/ours"} {
		p := a.Get(path)
		apptest.WantText(t, p, "#"+id, "in maintenance")
		if p.Find("#"+other+" .health:contains(maintenance)").Length() != 0 {
			t.Errorf("%s: the other target is in maintenance", path)
		}
	}
}

// The duration of a repeating window is the difference of its local times, even if daylight saving time starts in its first occurrence.
func TestLengthOfAWindowThatRepeats(t *testing.T) {
	a := newPagesApp(t)
	p := a.Follow("/alerts/maintenance", url.Values{
		"save": {"yes"}, "name": {"Night"}, "starts_at": {"2026-03-28T22:00"}, "ends_at": {"2026-03-29T06:00"}, "repeat": {"weekly"}, "time_zone": {"Europe/Berlin"},
	})
	apptest.WantText(t, p, "[data-row]", "Every Saturday at 22:00 Europe/Berlin, for 8 h")
}
