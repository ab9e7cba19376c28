package alerts_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models"
)

// Rules are added, changed, listed, deleted and restored.
func TestRules_API(t *testing.T) {
	each(t, func(w *world) {
		_, to := w.channel()
		at, id := w.rule(to)
		made := map[string]any{
			"id": id, "name": "Alert rule", "events": []string{"target.down", "target.up"}, "targets": []string{}, "tags": []string{}, "status_pages": []string{}, "subjects": []any{}, "channels": []string{to},
			"after_failures": 1, "after_minutes": 0, "group_wait_seconds": 0, "repeat_minutes": 0, "quiet": nil, "escalate": nil, "enabled": true, "owner": "system", "private": false, "created_at": w.now(), "updated_at": w.now(),
		}
		got := w.Do("GET", at, "").Want(200)
		apptest.Has(w.TB, got, made)
		if len(got) != len(made) || !strings.HasPrefix(id, "r_") {
			w.Errorf("the rule has other members: %v", got)
		}

		w.Clock.Advance(time.Second)
		_, boss := w.channel()
		_, target := w.add("/v1/targets", `{"url":"https://shop.test/"}`)
		_, page := w.add("/v1/status-pages", `{"title":"Shop","slug":"shop","targets":["`+target+`"]}`)
		settings := map[string]any{
			"name": "Shop", "events": []string{"target.down"}, "targets": []string{target}, "tags": []string{"shop"}, "status_pages": []string{page}, "channels": []string{to},
			"after_failures": 3, "after_minutes": 5, "group_wait_seconds": 30, "repeat_minutes": 60, "quiet": map[string]any{"from": "22:00", "to": "07:00", "time_zone": "Europe/Berlin"},
			"escalate": map[string]any{"after_minutes": 30, "channels": []string{boss}}, "enabled": false,
		}
		whole := fmt.Sprintf(`{"name":" Shop ","events":["target.down","target.down"],"targets":[%q],"tags":["shop"],"status_pages":[%q],"channels":[%q],"after_failures":3,"after_minutes":5,"group_wait_seconds":30,
			"repeat_minutes":60,"quiet":{"from":"22:00","to":"07:00","time_zone":"Europe/Berlin"},"escalate":{"after_minutes":30,"channels":[%q]},"enabled":false}`, target, page, to, boss)
		otherAt, other := w.add("/v1/alert-rules", whole)
		apptest.Has(w.TB, w.Do("GET", otherAt, "").Want(200), settings)

		first := w.Do("GET", "/v1/alert-rules?limit=1", "").Want(200)
		w.WantToken(first["next_page_token"].(string), w.Alerts.Now().Add(-time.Second).Time, id)
		second := w.Do("GET", "/v1/alert-rules?limit=1&page_token="+first["next_page_token"].(string), "").Want(200)
		if apptest.Column(first, "id") != id || apptest.Column(second, "id") != other || second["next_page_token"] != "" {
			w.Errorf("pages %v and %v", first, second)
		}

		apptest.Has(w.TB, w.Do("PATCH", at, whole).Want(200), settings)
		made["updated_at"] = w.now()
		w.Do("PATCH", otherAt, `{}`).Want(200)
		apptest.Has(w.TB, w.Do("GET", otherAt, "").Want(200), settings)
		cleared := w.Do("PATCH", at, `{"name":null,"events":["target.down","target.up"],"targets":null,"tags":[],"status_pages":null,"after_failures":null,"after_minutes":null,"group_wait_seconds":null,
			"repeat_minutes":null,"quiet":null,"escalate":null,"enabled":true}`).Want(200)
		apptest.Has(w.TB, cleared, made)

		w.Do("DELETE", at, "").Want(204)
		w.Do("GET", at, "").Problem(404, "not-found", "")
		w.Do("DELETE", at, "").Problem(404, "not-found", "")
		apptest.Has(w.TB, w.Do("POST", at+"/restore", "").Want(200), map[string]any{"id": id, "enabled": true})
		w.Do("POST", at+"/restore", "").Problem(404, "not-found", "")
	})
}

// Parts of quiet hours and escalation can be changed separately.
func TestPartsOfRules_API(t *testing.T) {
	each(t, func(w *world) {
		_, to := w.channel()
		at, _ := w.rule(to)
		for _, incomplete := range []string{
			`{"quiet":{}}`, `{"quiet":{"time_zone":"UTC"}}`, `{"quiet":{"to":"07:00"}}`, `{"quiet":{"from":null,"to":null}}`, `{"quiet":{"from":"","to":""}}`,
		} {
			w.Do("PATCH", at, incomplete).Problem(400, "invalid-request", "quiet.from")
		}
		w.Do("PATCH", at, `{"quiet":{"from":"22:00"}}`).Problem(400, "invalid-request", "quiet.to")
		for _, incomplete := range []string{`{"escalate":{}}`, `{"escalate":{"channels":["` + to + `"]}}`, `{"escalate":{"after_minutes":null,"channels":["` + to + `"]}}`} {
			w.Do("PATCH", at, incomplete).Problem(400, "invalid-request", "escalate.after_minutes")
		}
		w.Do("PATCH", at, `{"escalate":{"after_minutes":5}}`).Problem(400, "invalid-request", "escalate.channels")

		w.Do("PATCH", at, `{"quiet":{"from":"22:00","to":"07:00"},"escalate":{"after_minutes":5,"channels":["`+to+`"]}}`).Want(200)
		changed := w.Do("PATCH", at, `{"quiet":{"time_zone":"Asia/Tokyo"},"escalate":{"after_minutes":6}}`).Want(200)
		want := map[string]any{
			"quiet": map[string]any{"from": "22:00", "to": "07:00", "time_zone": "Asia/Tokyo"}, "escalate": map[string]any{"after_minutes": 6, "channels": []string{to}},
		}
		apptest.Has(w.TB, changed, want)
		w.Do("PATCH", at, `{"quiet":{"from":null,"to":null}}`).Problem(400, "invalid-request", "quiet.from")
		apptest.Has(w.TB, w.Do("PATCH", at, `{"quiet":{},"escalate":{}}`).Want(200), want)
		apptest.Has(w.TB, w.Do("PATCH", at, `{"quiet":{"time_zone":null}}`).Want(200), map[string]any{"quiet": map[string]any{"from": "22:00", "to": "07:00", "time_zone": "UTC"}})
	})
}

// A rule keeps ids of deleted channels until it is changed.
func TestRulesOfDeletedChannels_API(t *testing.T) {
	each(t, func(w *world) {
		_, stays := w.channel()
		goesAt, goes := w.channel()
		at, _ := w.add("/v1/alert-rules", `{"events":["target.down"],"channels":["`+stays+`","`+goes+`"]}`)
		w.Do("DELETE", goesAt, "").Want(204)
		apptest.Has(w.TB, w.Do("GET", at, "").Want(200), map[string]any{"channels": []string{stays, goes}})
		apptest.Has(w.TB, w.Do("PATCH", at, `{"after_minutes":5}`).Want(200), map[string]any{"channels": []string{stays}})
		w.Do("POST", "/v1/alert-rules", `{"events":["target.down"],"channels":["`+goes+`"]}`).Problem(400, "invalid-request", "channels[0]")
	})
}

// A rule whose channels were all deleted can still be renamed and disabled.
func TestRuleWithoutAnyChannel_API(t *testing.T) {
	each(t, func(w *world) {
		goesAt, goes := w.channel()
		_, boss := w.channel()
		at, _ := w.add("/v1/alert-rules", `{"events":["target.down"],"channels":["`+goes+`"],"escalate":{"after_minutes":5,"channels":["`+boss+`"]}}`)
		w.Do("DELETE", goesAt, "").Want(204)
		for range 2 {
			apptest.Has(w.TB, w.Do("PATCH", at, `{"name":"Shop"}`).Want(200), map[string]any{"name": "Shop", "channels": []string{}})
			apptest.Has(w.TB, w.Do("PATCH", at, `{"enabled":false}`).Want(200), map[string]any{"enabled": false, "channels": []string{}})
		}
		apptest.Has(w.TB, w.Do("PATCH", at, `{"channels":["`+boss+`"]}`).Want(200), map[string]any{"channels": []string{boss}})
		w.Do("PATCH", at, `{"channels":[" "]}`).Problem(400, "invalid-request", "channels")
	})
}

// Rules and maintenance windows refuse targets, status pages and channels that do not exist. What they have may be deleted later.
func TestUnknownItemsOfScopes_API(t *testing.T) {
	each(t, func(w *world) {
		_, to := w.add("/v1/channels", `{"url":"`+hook+`"}`)
		targetPath, target := w.add("/v1/targets", `{"url":"https://shop.test/"}`)
		gone, page, channel := models.NewID(models.KindTarget), models.NewID(models.KindStatusPage), models.NewID(models.KindChannel)
		window := `"starts_at":"2026-01-01T22:00:00Z","ends_at":"2026-01-02T00:00:00Z"`
		for path, rest := range map[string]string{"/v1/alert-rules": `"events":["target.down"],"channels":["` + to + `"]`, "/v1/maintenance": window} {
			at, _ := w.add(path, `{`+rest+`,"targets":["`+target+`"]}`)
			for _, request := range [][2]string{{"POST", path}, {"PATCH", at}} {
				members := rest + ","
				if request[0] == "PATCH" {
					members = ""
				}
				w.Do(request[0], request[1], `{`+members+`"targets":["`+gone+`"]}`).Problem(400, "invalid-request", "targets[0]")
				w.Do(request[0], request[1], `{`+members+`"targets":["`+target+`","`+gone+`"]}`).Problem(400, "invalid-request", "targets[1]")
				w.Do(request[0], request[1], `{`+members+`"status_pages":["`+page+`"]}`).Problem(400, "invalid-request", "status_pages[0]")
			}
			if path == "/v1/maintenance" {
				continue
			}
			w.Do("PATCH", at, `{"channels":["`+channel+`"]}`).Problem(400, "invalid-request", "channels[0]")
			w.Do("PATCH", at, `{"escalate":{"after_minutes":5,"channels":["`+channel+`"]}}`).Problem(400, "invalid-request", "escalate.channels[0]")
		}
		at, _ := w.add("/v1/alert-rules", `{"events":["target.down"],"channels":["`+to+`"],"targets":["`+target+`"]}`)
		w.Do("DELETE", targetPath, "").Want(204)
		w.Do("PATCH", at, `{"targets":["`+target+`"],"name":"Kept"}`).Want(200)
		w.Do("POST", "/v1/alert-rules", `{"events":["target.down"],"channels":["`+to+`"],"targets":["`+target+`"]}`).Problem(400, "invalid-request", "targets[0]")
	})
}
