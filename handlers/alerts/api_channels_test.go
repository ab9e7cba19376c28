package alerts_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/modelstest"
)

// Channels are added, changed, listed, deleted and restored. Responses never contain their addresses.
func TestChannels_API(t *testing.T) {
	each(t, func(w *world) {
		made := w.Do("POST", "/v1/channels", `{"url":"`+hook+`","secret":"`+secret+`"}`)
		apptest.Has(w.TB, made.Want(201), map[string]any{
			"name": "webhook", "kind": "webhook", "enabled": true, "owner": "system", "private": false, "created_at": w.now(), "last_delivered_at": nil, "last_error": nil,
		})
		id := made.Want(201)["id"].(string)
		at := "/v1/channels/" + id
		if made.Header.Get("Location") != at || !strings.HasPrefix(id, "a_") || len(made.Want(201)) != 9 {
			w.Errorf("made %s at %s: %s", id, made.Header.Get("Location"), made.Body)
		}
		w.Clock.Advance(time.Second)
		whole := w.Do("POST", "/v1/channels", `{"name":" Operations ","kind":"ntfy","url":"ntfy://ntfy.sh/canary","enabled":false,"secret":null}`)
		other := whole.Want(201)["id"].(string)
		apptest.Has(w.TB, whole.Want(201), map[string]any{"name": "Operations", "kind": "ntfy", "enabled": false})

		list := w.Do("GET", "/v1/channels?limit=1", "")
		first := list.Want(200)
		w.WantToken(first["next_page_token"].(string), w.Alerts.Now().Add(-time.Second).Time, id)
		second := w.Do("GET", "/v1/channels?limit=1&page_token="+first["next_page_token"].(string), "").Want(200)
		if apptest.Column(first, "id") != id || apptest.Column(second, "id") != other || second["next_page_token"] != "" {
			w.Errorf("pages %v and %v", first, second)
		}

		apptest.Has(w.TB, w.Do("PATCH", at, `{}`).Want(200), map[string]any{"name": "webhook", "enabled": true})
		edited := w.Do("PATCH", at, `{"name":"Hook","enabled":false,"kind":"webhook"}`)
		apptest.Has(w.TB, edited.Want(200), map[string]any{"name": "Hook", "enabled": false, "kind": "webhook"})
		apptest.Has(w.TB, w.Do("PATCH", at, `{"name":null,"enabled":true}`).Want(200), map[string]any{"name": "webhook", "enabled": true})
		w.secretless(made, whole, list, edited, w.Do("GET", at, ""))

		w.Do("DELETE", at, "").Want(204)
		w.Do("GET", at, "").Problem(404, "not-found", "")
		w.Do("DELETE", at, "").Problem(404, "not-found", "")
		if list := w.Do("GET", "/v1/channels", "").Want(200); apptest.Column(list, "id") != other {
			w.Errorf("after one was deleted: %v", list)
		}
		apptest.Has(w.TB, w.Do("POST", at+"/restore", "").Want(200), map[string]any{"id": id, "enabled": true})
		w.Do("POST", at+"/restore", "").Problem(404, "not-found", "")
	})
}

// The secret can be changed separately. Another URL removes it unless a new one is sent. The kind follows the URL.
func TestAddressesOfChannels_API(t *testing.T) {
	each(t, func(w *world) {
		at, id := w.channel()
		stored := func(want alerts.Address) {
			w.Helper()
			c, err := w.Alerts.Channel(w.Context(), id)
			w.Must(err)
			if got, err := w.Alerts.Address(c); err != nil || got != want {
				w.Errorf("stored is %+v, %v, want %+v", got, err, want)
			}
		}
		stored(alerts.Address{URL: hook, Secret: secret})
		w.Do("PATCH", at, `{"name":"Hook","url":"`+hook+`"}`).Want(200)
		stored(alerts.Address{URL: hook, Secret: secret})
		w.Do("PATCH", at, `{"url":"https://hooks.test/other"}`).Want(200)
		stored(alerts.Address{URL: "https://hooks.test/other"})
		w.Do("PATCH", at, `{"secret":"`+secret+`"}`).Want(200)
		stored(alerts.Address{URL: "https://hooks.test/other", Secret: secret})
		w.Do("PATCH", at, `{"secret":null}`).Want(200)
		stored(alerts.Address{URL: "https://hooks.test/other"})
		w.Do("PATCH", at, `{"url":"`+hook+`","secret":"`+secret+`"}`).Want(200)
		stored(alerts.Address{URL: hook, Secret: secret})
		apptest.Has(w.TB, w.Do("PATCH", at, `{"url":"ntfy://ntfy.sh/topic"}`).Want(200), map[string]any{"kind": "ntfy"})
		stored(alerts.Address{URL: "ntfy://ntfy.sh/topic"})
		w.Do("PATCH", at, `{"secret":"`+secret+`"}`).Problem(400, "invalid-request", "secret")
		w.Do("PATCH", at, `{"kind":"webhook"}`).Problem(400, "invalid-request", "kind")
		w.Do("PATCH", at, `{"kind":"webhook","url":"smtp://mail.test/"}`).Problem(400, "invalid-request", "kind")
		stored(alerts.Address{URL: "ntfy://ntfy.sh/topic"})

		modelstest.Exec(w.TB, w.DB, "UPDATE channels SET config = ?", []byte("of another key"))
		w.Do("PATCH", at, `{"url":"`+hook+`"}`).Problem(409, "conflict", "")
		w.Do("PATCH", at, `{"name":"Hook"}`).Want(200)
		w.Do("PATCH", at, `{"url":"`+hook+`","secret":null}`).Want(200)
		stored(alerts.Address{URL: hook})
	})
}

// A test returns the response of the service and records the result.
func TestTestMessages_API(t *testing.T) {
	each(t, func(w *world) {
		at, _ := w.channel()
		w.Sender.answer = "ok"
		apptest.Has(w.TB, w.Do("POST", at+"/test", "").Want(200), map[string]any{"delivered": true, "answer": "ok"})
		apptest.Has(w.TB, w.Do("GET", at, "").Want(200), map[string]any{"last_delivered_at": w.now(), "last_error": nil})

		noted := func(want any) {
			w.Helper()
			apptest.Has(w.TB, w.Do("GET", at, "").Want(200), map[string]any{"last_error": want, "enabled": true})
		}
		*w.Sender = sender{answer: "Slack returned 404: no_service"}
		refused := w.Do("POST", at+"/test", "")
		if detail := refused.Problem(422, "delivery-failed", "")["detail"].(string); !strings.Contains(detail, "Slack returned 404: no_service") {
			w.Errorf("the detail is %q", detail)
		}
		noted("Slack returned 404: no_service")
		*w.Sender = sender{}
		w.Do("POST", at+"/test", "").Problem(422, "delivery-failed", "")
		noted("The service gave no reason.")
		*w.Sender = sender{err: &models.Error{Code: models.CodeBlocked, Detail: "The webhook points to a private address."}}
		blocked := w.Do("POST", at+"/test", "")
		blocked.Problem(422, "blocked-address", "")
		noted("The webhook points to a private address.")
		w.secretless(refused, blocked)

		*w.Sender = sender{err: models.Conflict("The stored URL cannot be decrypted.")}
		w.Do("POST", at+"/test", "").Problem(409, "conflict", "")
		noted("The stored URL cannot be decrypted.")
		*w.Sender = sender{err: context.DeadlineExceeded}
		w.Do("POST", at+"/test", "").Problem(503, "unavailable", "")
		noted("The stored URL cannot be decrypted.")

		*w.Sender = sender{delivered: true}
		w.Do("PATCH", at, `{"enabled":false}`).Want(200)
		apptest.Has(w.TB, w.Do("POST", at+"/test", "").Want(200), map[string]any{"delivered": true, "answer": ""})
	})
}

// The number of settings is limited.
func TestLimits_API(t *testing.T) {
	each(t, func(w *world) {
		_, id := w.channel()
		for list, one := range map[string]struct {
			body string
			most int
		}{
			"/v1/channels":    {`{"url":"` + hook + `"}`, alerts.MaxChannels - 1},
			"/v1/alert-rules": {`{"events":["target.down"],"channels":["` + id + `"]}`, alerts.MaxRules},
			"/v1/maintenance": {`{"starts_at":"2026-01-01T00:00:00Z","ends_at":"2026-01-02T00:00:00Z"}`, alerts.MaxWindows},
		} {
			var deleted string
			for range one.most {
				deleted = list + "/" + w.Do("POST", list, one.body).Want(201)["id"].(string)
			}
			w.Do("POST", list, one.body).Problem(409, "conflict", "")
			w.Do("DELETE", deleted, "").Want(204)
			w.Do("POST", list, one.body).Want(201)
			w.Do("POST", deleted+"/restore", "").Problem(409, "conflict", "")
			before := w.Queries.Load()
			w.Do("GET", list+"?limit=1", "").Want(200)
			few := w.Queries.Load() - before
			w.Do("GET", list+"?limit=500", "").Want(200)
			if many := w.Queries.Load() - before - few; many != few {
				w.Errorf("%s: %d queries for all, %d for one", list, many, few)
			}
		}
	})
}
