package alerts_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models"
)

// list returns a JSON array of n strings, formatted with their index.
func list(n int, format string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i)
	}
	return `["` + strings.Join(all, `","`) + `"]`
}

// A refused request returns a complete problem that names the member and contains no secret.
func TestAlertsErrors_API(t *testing.T) {
	each(t, func(w *world) {
		at, id := w.channel()
		rule, ruleID := w.rule(id)
		window, _ := w.add("/v1/maintenance", `{"starts_at":"2026-01-01T00:00:00Z","ends_at":"2026-01-02T00:00:00Z"}`)
		long := strings.Repeat("n", 201)
		newRule := func(members string) string {
			return `{"events":["target.down"],"channels":["` + id + `"],` + members + `}`
		}
		newWindow := func(members string) string {
			return `{"starts_at":"2026-01-01T00:00:00Z","ends_at":"2026-01-02T00:00:00Z",` + members + `}`
		}
		for _, c := range []struct {
			method, path, body, location string
		}{
			{"POST", "/v1/channels", `{}`, "url"},
			{"POST", "/v1/channels", ``, "body"},
			{"POST", "/v1/channels", `{"url":null}`, "url"},
			{"POST", "/v1/channels", `{"url":7}`, "url"},
			{"POST", "/v1/channels", `{"url":""}`, "url"},
			{"POST", "/v1/channels", `{"url":"canary"}`, "url"},
			{"POST", "/v1/channels", `{"url":"` + hook + strings.Repeat("a", 2048) + `"}`, "url"},
			{"POST", "/v1/channels", `{"url":"` + hook + `","kind":"slack"}`, "kind"},
			{"POST", "/v1/channels", `{"url":"` + hook + `","kind":null}`, "kind"},
			{"POST", "/v1/channels", `{"url":"` + hook + `","kind":""}`, "kind"},
			{"POST", "/v1/channels", `{"url":"` + hook + `","secret":"canary"}`, "secret"},
			{"POST", "/v1/channels", `{"url":"` + hook + `","secret":""}`, "secret"},
			{"POST", "/v1/channels", `{"url":"` + hook + `","secret":"canary` + long + `"}`, "secret"},
			{"POST", "/v1/channels", `{"url":"ntfy://ntfy.sh/canary","secret":"` + secret + `"}`, "secret"},
			{"POST", "/v1/channels", `{"url":"` + hook + `","name":"` + long + `"}`, "name"},
			{"POST", "/v1/channels", `{"url":"` + hook + `","enabled":null}`, "enabled"},
			{"POST", "/v1/channels", `{"url":"` + hook + `","enabled":"yes"}`, "enabled"},
			{"POST", "/v1/channels", `{"url":"` + hook + `","canary":1}`, "body"},
			{"PATCH", at, `{"url":null}`, "url"},
			{"PATCH", at, `{"url":"canary"}`, "url"},
			{"PATCH", at, `{"secret":"canary"}`, "secret"},
			{"PATCH", at, `{"kind":"slack"}`, "kind"},
			{"PATCH", at, `{"name":7}`, "name"},
			{"PATCH", at, `{"last_error":null}`, "body"},
			{"PATCH", at, `[]`, "body"},
			{"GET", "/v1/channels?limit=0", ``, "query.limit"},
			{"GET", "/v1/channels?limit=501", ``, "query.limit"},
			{"GET", "/v1/channels?page_token=zzz", ``, "query.page_token"},
			{"GET", "/v1/channels?page_token=" + token(w, ruleID), ``, "query.page_token"},
			{"POST", "/v1/alert-rules", `{}`, "events"},
			{"POST", "/v1/alert-rules", `{"events":["target.down"]}`, "channels"},
			{"POST", "/v1/alert-rules", newRule(`"events":[]`), "body"},
			{"POST", "/v1/alert-rules", `{"events":[],"channels":["` + id + `"]}`, "events"},
			{"POST", "/v1/alert-rules", `{"events":null,"channels":["` + id + `"]}`, "events"},
			{"POST", "/v1/alert-rules", `{"events":["canary"],"channels":["` + id + `"]}`, "events[0]"},
			{"POST", "/v1/alert-rules", `{"events":[null],"channels":["` + id + `"]}`, "events[0]"},
			{"POST", "/v1/alert-rules", `{"events":["target.down"],"channels":["canary"]}`, "channels[0]"},
			{"POST", "/v1/alert-rules", `{"events":["target.down"],"channels":[]}`, "channels"},
			{"POST", "/v1/alert-rules", newRule(`"name":"` + long + `"`), "name"},
			{"POST", "/v1/alert-rules", newRule(`"targets":["canary"]`), "targets[0]"},
			{"POST", "/v1/alert-rules", newRule(`"targets":` + list(501, "t_%022d")), "targets"},
			{"POST", "/v1/alert-rules", newRule(`"status_pages":["canary"]`), "status_pages[0]"},
			{"POST", "/v1/alert-rules", newRule(`"tags":["a"," "]`), "tags[1]"},
			{"POST", "/v1/alert-rules", newRule(`"tags":["` + strings.Repeat("ü", 65) + `"]`), "tags[0]"},
			{"POST", "/v1/alert-rules", newRule(`"tags":` + list(501, "tag %d")), "tags"},
			{"POST", "/v1/alert-rules", newRule(`"after_failures":0`), "after_failures"},
			{"POST", "/v1/alert-rules", newRule(`"after_failures":11`), "after_failures"},
			{"POST", "/v1/alert-rules", newRule(`"after_minutes":-1`), "after_minutes"},
			{"POST", "/v1/alert-rules", newRule(`"after_minutes":10081`), "after_minutes"},
			{"POST", "/v1/alert-rules", newRule(`"repeat_minutes":1.5`), "repeat_minutes"},
			{"POST", "/v1/alert-rules", newRule(`"quiet":{}`), "quiet.from"},
			{"POST", "/v1/alert-rules", newRule(`"quiet":{"from":"22:00"}`), "quiet.to"},
			{"POST", "/v1/alert-rules", newRule(`"quiet":{"from":"24:00","to":"07:00"}`), "quiet.from"},
			{"POST", "/v1/alert-rules", newRule(`"quiet":{"from":"22:00","to":"22:00"}`), "quiet.to"},
			{"POST", "/v1/alert-rules", newRule(`"quiet":{"from":"22:00","to":"07:00","time_zone":"Canary/Town"}`), "quiet.time_zone"},
			{"POST", "/v1/alert-rules", newRule(`"quiet":{"from":"22:00","to":"07:00","time_zone":"../../etc/passwd"}`), "quiet.time_zone"},
			{"POST", "/v1/alert-rules", newRule(`"quiet":{"canary":1}`), "quiet"},
			{"POST", "/v1/alert-rules", newRule(`"quiet":[]`), "quiet"},
			{"POST", "/v1/alert-rules", newRule(`"escalate":{"after_minutes":0,"channels":["` + id + `"]}`), "escalate.after_minutes"},
			{"POST", "/v1/alert-rules", newRule(`"escalate":{"channels":["` + id + `"]}`), "escalate.after_minutes"},
			{"POST", "/v1/alert-rules", newRule(`"escalate":{"after_minutes":5}`), "escalate.channels"},
			{"POST", "/v1/alert-rules", newRule(`"escalate":{"after_minutes":5,"channels":["canary"]}`), "escalate.channels[0]"},
			{"POST", "/v1/alert-rules", newRule(`"enabled":null`), "enabled"},
			{"PATCH", rule, `{"events":null}`, "events"},
			{"PATCH", rule, `{"events":[]}`, "events"},
			{"PATCH", rule, `{"channels":null}`, "channels"},
			{"PATCH", rule, `{"channels":["` + ruleID + `"]}`, "channels[0]"},
			{"PATCH", rule, `{"enabled":null}`, "enabled"},
			{"PATCH", rule, `{"id":"canary"}`, "body"},
			{"GET", "/v1/alert-rules?limit=x", ``, "query.limit"},
			{"GET", "/v1/alert-rules?page_token=" + token(w, id), ``, "query.page_token"},
			{"POST", "/v1/maintenance", `{}`, "starts_at"},
			{"POST", "/v1/maintenance", `{"starts_at":"canary","ends_at":"2026-01-02T00:00:00Z"}`, "starts_at"},
			{"POST", "/v1/maintenance", `{"starts_at":"0001-01-01T00:00:00Z","ends_at":"2026-01-02T00:00:00Z"}`, "starts_at"},
			{"POST", "/v1/maintenance", `{"starts_at":"2026-01-02T00:00:00Z","ends_at":"2026-01-02T00:00:00Z"}`, "ends_at"},
			{"POST", "/v1/maintenance", `{"starts_at":"2026-01-02T00:00:00Z","ends_at":"9999-12-31T23:59:59Z"}`, "ends_at"},
			{"POST", "/v1/maintenance", newWindow(`"name":"` + long + `"`), "name"},
			{"POST", "/v1/maintenance", newWindow(`"repeat":"daily"`), "repeat"},
			{"POST", "/v1/maintenance", newWindow(`"repeat":null`), "repeat"},
			{"POST", "/v1/maintenance", newWindow(`"time_zone":"Local"`), "time_zone"},
			{"POST", "/v1/maintenance", newWindow(`"tags":[""]`), "tags[0]"},
			{"POST", "/v1/maintenance", newWindow(`"targets":["` + id + `"]`), "targets[0]"},
			{"POST", "/v1/maintenance", newWindow(`"active":true`), "body"},
			{"PATCH", window, `{"starts_at":null}`, "starts_at"},
			{"PATCH", window, `{"ends_at":null}`, "ends_at"},
			{"PATCH", window, `{"ends_at":"2026-01-09T00:00:01Z","repeat":"weekly"}`, "ends_at"},
			{"PATCH", window, `{"ends_at":7}`, "ends_at"},
			{"PATCH", window, `{"canary":7}`, "body"},
			{"GET", "/v1/maintenance?limit=501", ``, "query.limit"},
			{"GET", "/v1/maintenance?page_token=" + token(w, id), ``, "query.page_token"},
			{"GET", "/v1/alerts?state=canary", ``, "query.state"},
			{"GET", "/v1/alerts?limit=501", ``, "query.limit"},
			{"GET", "/v1/alerts?page_token=zzz", ``, "query.page_token"},
			{"GET", "/v1/alerts?page_token=" + token(w, id), ``, "query.page_token"},
		} {
			a := w.Do(c.method, c.path, c.body)
			a.Problem(400, "invalid-request", c.location)
			w.secretless(a)
		}
		w.Do("GET", "/v1/alerts?state=&page_token=", "").Want(200)
		w.Do("PUT", at, `{}`).Problem(405, "method-not-allowed", "")
		if got := apptest.Column(w.Do("GET", "/v1/channels", "").Want(200), "id"); got != id {
			w.Errorf("channels %s", got)
		}
	})
}

// A problem names every invalid member, and its detail has all messages.
func TestAlertsErrorsAtOnce_API(t *testing.T) {
	each(t, func(w *world) {
		long := strings.Repeat("n", 201)
		for _, c := range []struct{ path, body, locations string }{
			{"/v1/channels", `{"name":"` + long + `","url":"` + hook + `","kind":"slack","secret":"canary"}`, "kind secret name"},
			{"/v1/alert-rules", `{"name":"` + long + `","events":["canary"],"channels":["canary"],"tags":["` + long + `"],"quiet":{"from":"x","to":"y"}}`,
				"name events[0] tags[0] quiet.from quiet.to channels[0]"},
			{"/v1/maintenance", `{"name":"` + long + `","starts_at":"2026-01-02T00:00:00Z","ends_at":"2026-01-01T00:00:00Z","time_zone":"Mars"}`, "name ends_at time_zone"},
		} {
			a := w.Do("POST", c.path, c.body)
			w.secretless(a)
			p := a.Problem(400, "invalid-request", "name")
			detail, _ := p["detail"].(string)
			var locations []string
			errs, _ := p["errors"].([]any)
			for _, e := range errs {
				e, _ := e.(map[string]any)
				location, message := fmt.Sprint(e["location"]), fmt.Sprint(e["message"])
				locations = append(locations, location)
				if !strings.Contains(detail, location+": "+message) {
					w.Errorf("the detail %q lacks %s", detail, location)
				}
			}
			if got := strings.Join(locations, " "); got != c.locations {
				w.Errorf("%s: errors at %q, want %q", c.path, got, c.locations)
			}
		}
	})
}

// Missing, deleted and wrong-kind ids are not found.
func TestAlertsNotFound_API(t *testing.T) {
	each(t, func(w *world) {
		at, id := w.channel()
		rule, ruleID := w.rule(id)
		calls := map[string][]string{
			"/v1/channels/":    {"GET ", "PATCH  {}", `PATCH  {"kind":"slack"}`, "DELETE ", "POST /test", "POST /restore"},
			"/v1/alert-rules/": {"GET ", "PATCH  {}", "DELETE ", "POST /restore"},
			"/v1/maintenance/": {"GET ", "PATCH  {}", "DELETE ", "POST /restore"},
			"/v1/alerts/":      {"GET ", "POST /acknowledge", "POST /unacknowledge", `POST /silence {"minutes":5}`},
		}
		missing := func(path string, calls []string) {
			w.Helper()
			for _, call := range calls {
				method, rest, _ := strings.Cut(call, " ")
				rest, body, _ := strings.Cut(rest, " ")
				w.Do(method, path+rest, body).Problem(404, "not-found", "")
			}
		}
		of := map[string]models.Kind{"/v1/channels/": models.KindChannel, "/v1/alert-rules/": models.KindRule, "/v1/maintenance/": models.KindMaintenance, "/v1/alerts/": models.KindAlert}
		for path, calls := range calls {
			for _, other := range []string{models.NewID(of[path]), models.NewID(models.KindTarget), string(of[path]) + "_", "%00", string(of[path]) + "_" + strings.Repeat("z", 22)} {
				missing(path+other, calls)
			}
		}
		missing("/v1/channels/"+ruleID, calls["/v1/channels/"])
		missing("/v1/alert-rules/"+id, calls["/v1/alert-rules/"])
		w.Do("DELETE", at, "").Want(204)
		missing(at, calls["/v1/channels/"][:5])
		w.Do("DELETE", rule, "").Want(204)
		missing(rule, calls["/v1/alert-rules/"][:3])
		w.Clock.Advance(models.Day + time.Second)
		missing(at, []string{"POST /restore"})
		missing(rule, []string{"POST /restore"})
	})
}

// token returns the page token after an item with the id.
func token(w *world, id string) string {
	return models.Cursor{CreatedAt: w.Alerts.Now(), ID: id}.Token()
}
