package alerts_test

import (
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
)

// Maintenance windows are added, changed, listed, deleted and restored.
func TestMaintenance_API(t *testing.T) {
	each(t, func(w *world) {
		now := w.Alerts.Now()
		in := func(d time.Duration) string { return now.Add(d).Format(time.RFC3339Nano) }
		at, id := w.add("/v1/maintenance", `{"starts_at":"`+strings.ToLower(in(time.Hour))+`","ends_at":"`+strings.ToLower(in(2*time.Hour))+`"}`)
		made := map[string]any{
			"id": id, "name": "Maintenance", "targets": []string{}, "tags": []string{}, "status_pages": []string{}, "subjects": []any{}, "starts_at": in(time.Hour), "ends_at": in(2 * time.Hour), "repeat": "none",
			"time_zone": "UTC", "active": false, "created_at": in(0), "updated_at": in(0),
		}
		got := w.Do("GET", at, "").Want(200)
		apptest.Has(w.TB, got, made)
		if len(got) != len(made) || !strings.HasPrefix(id, "x_") {
			w.Errorf("the window has other members: %v", got)
		}
		w.Clock.Advance(time.Hour)
		apptest.Has(w.TB, w.Do("GET", at, "").Want(200), map[string]any{"active": true})

		_, target := w.add("/v1/targets", `{"url":"https://shop.test/"}`)
		_, page := w.add("/v1/status-pages", `{"title":"Shop","slug":"shop","targets":["`+target+`"]}`)
		settings := map[string]any{
			"name": "Upgrade", "targets": []string{target}, "tags": []string{"shop"}, "status_pages": []string{page}, "starts_at": "2026-01-01T21:00:00Z", "ends_at": "2026-01-01T23:00:00Z",
			"repeat": "weekly", "time_zone": "Europe/Berlin",
		}
		whole := `{"name":" Upgrade ","targets":["` + target + `"],"tags":["shop"],"status_pages":["` + page + `"],"starts_at":"2026-01-01T22:00:30+01:00","ends_at":"2026-01-02T00:00:30+01:00",
			"repeat":"weekly","time_zone":"Europe/Berlin"}`
		otherAt, other := w.add("/v1/maintenance", whole)
		apptest.Has(w.TB, w.Do("GET", otherAt, "").Want(200), settings)

		first := w.Do("GET", "/v1/maintenance?limit=1", "").Want(200)
		w.WantToken(first["next_page_token"].(string), now.Time, id)
		second := w.Do("GET", "/v1/maintenance?limit=1&page_token="+first["next_page_token"].(string), "").Want(200)
		if apptest.Column(first, "id") != id || apptest.Column(second, "id") != other || second["next_page_token"] != "" {
			w.Errorf("pages %v and %v", first, second)
		}

		apptest.Has(w.TB, w.Do("PATCH", otherAt, `{}`).Want(200), settings)
		apptest.Has(w.TB, w.Do("PATCH", at, whole).Want(200), settings)
		made["active"], made["updated_at"] = true, w.now()
		cleared := w.Do("PATCH", at, `{"name":null,"targets":null,"tags":null,"status_pages":null,"repeat":"none","time_zone":null,"starts_at":"`+in(time.Hour)+`","ends_at":"`+in(2*time.Hour)+`"}`).Want(200)
		apptest.Has(w.TB, cleared, made)

		w.Do("DELETE", at, "").Want(204)
		w.Do("GET", at, "").Problem(404, "not-found", "")
		w.Do("DELETE", at, "").Problem(404, "not-found", "")
		apptest.Has(w.TB, w.Do("POST", at+"/restore", "").Want(200), map[string]any{"id": id})
		w.Do("POST", at+"/restore", "").Problem(404, "not-found", "")
	})
}
