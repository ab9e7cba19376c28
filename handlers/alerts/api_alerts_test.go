package alerts_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models/alerts"
)

// Alerts are listed by state, with their subjects and messages.
func TestAlerts_API(t *testing.T) {
	each(t, func(w *world) {
		_, to := w.channel()
		w.rule(to)
		since := w.now()
		a := w.down("a.test")
		b := w.down("b.test")
		got := w.Do("GET", a, "").Want(200)
		subject := map[string]any{"kind": "target", "id": "t_a.testxxxxxxxxxxxxxxxx", "name": "Shop <a.test>", "url": "https://a.test/"}
		listed := map[string]any{"state": "down", "cause": "unexpected status 500", "since": since, "acknowledged_at": nil}
		maps.Copy(listed, subject)
		apptest.Has(w.TB, got, map[string]any{
			"event": "target.down", "severity": "critical", "subject": subject, "subjects": []any{listed}, "subject_count": 1, "message": "Shop <a.test> is down: unexpected status 500",
			"flapping": false, "reason": "", "started_at": since, "resolved_at": nil, "acknowledged_at": nil, "silenced_until": nil, "ends": nil, "part_of": nil, "url": "https://lw.test/alerts/" + got["id"].(string),
		})
		deliveries := apptest.Objects(got["deliveries"])
		if len(deliveries) != 1 {
			w.Fatalf("deliveries %v", deliveries)
		}
		apptest.Has(w.TB, deliveries[0], map[string]any{"channel_id": to, "reason": "fired", "status": "pending", "attempts": 0, "last_error": nil, "delivered_at": nil})

		w.Do("POST", a+"/acknowledge", `{"subjects":["t_other"]}`).Problem(400, "invalid-request", "subjects")
		some := w.Do("POST", a+"/acknowledge", `{"subjects":["t_a.testxxxxxxxxxxxxxxxx"]}`).Want(200)
		if at := apptest.Objects(some["subjects"])[0]["acknowledged_at"]; at == nil || at != some["acknowledged_at"] {
			w.Errorf("acknowledged at %v, the alert at %v", at, some["acknowledged_at"])
		}
		w.Do("POST", a+"/unacknowledge", "").Want(200)
		w.Do("POST", a+"/acknowledge", "").Want(200)
		w.up("b.test")
		state := func(query string, want ...string) {
			w.Helper()
			ids := ""
			for i, at := range want {
				if i > 0 {
					ids += " "
				}
				ids += at[len("/v1/alerts/"):]
			}
			if got := apptest.Column(w.Do("GET", "/v1/alerts"+query, "").Want(200), "id"); got != ids {
				w.Errorf("%s: %s, want %s", query, got, ids)
			}
		}
		ended := apptest.Items(w.Do("GET", "/v1/alerts?limit=1", "").Want(200))[0] // the recovery of b.test
		apptest.Has(w.TB, ended, map[string]any{"event": "target.up", "ends": b[len("/v1/alerts/"):]})
		up := "/v1/alerts/" + ended["id"].(string)
		state("", up, b, a)
		state("?state=firing", a)
		state("?state=unacknowledged")
		state("?state=resolved", up, b)
		first := w.Do("GET", "/v1/alerts?limit=2", "").Want(200)
		state("?limit=2&page_token="+first["next_page_token"].(string), a)
	})
}

// An alert can be acknowledged and silenced until it is resolved.
func TestAcknowledge_API(t *testing.T) {
	each(t, func(w *world) {
		_, to := w.channel()
		w.rule(to)
		at := w.down("a.test")
		acknowledged := w.now()
		apptest.Has(w.TB, w.Do("POST", at+"/acknowledge", "").Want(200), map[string]any{"acknowledged_at": acknowledged})
		w.Clock.Advance(time.Minute)
		apptest.Has(w.TB, w.Do("POST", at+"/acknowledge", "").Want(200), map[string]any{"acknowledged_at": acknowledged})
		apptest.Has(w.TB, w.Do("POST", at+"/unacknowledge", "").Want(200), map[string]any{"acknowledged_at": nil})
		until := w.Alerts.Now().Add(alerts.MaxSilence).Format(time.RFC3339Nano)
		apptest.Has(w.TB, w.Do("POST", at+"/silence", `{"minutes":10080}`).Want(200), map[string]any{"silenced_until": until})
		apptest.Has(w.TB, w.Do("POST", at+"/silence", `{"minutes":0}`).Want(200), map[string]any{"silenced_until": nil})
		for _, body := range []string{`{}`, `{"minutes":null}`, `{"minutes":-1}`, `{"minutes":10081}`, `{"minutes":1.5}`, `{"minutes":"60"}`, `{"minutes":9223372036854775807}`} {
			w.Do("POST", at+"/silence", body).Problem(400, "invalid-request", "minutes")
		}
		w.Do("POST", at+"/silence", `{"minutes":1,"hours":1}`).Problem(400, "invalid-request", "body")
		w.Do("POST", at+"/silence", "").Problem(400, "invalid-request", "body")

		w.up("a.test")
		w.Do("POST", at+"/acknowledge", "").Problem(409, "conflict", "")
		w.Do("POST", at+"/unacknowledge", "").Problem(409, "conflict", "")
		w.Do("POST", at+"/silence", `{"minutes":5}`).Problem(409, "conflict", "")
	})
}

// The number of queries for a list does not depend on the number of alerts.
func TestAlertsTakeFewQueries(t *testing.T) {
	each(t, func(w *world) {
		_, to := w.channel()
		w.rule(to)
		count := func() int64 {
			before := w.Queries.Load()
			w.Do("GET", "/v1/alerts?limit=500", "").Want(200)
			return w.Queries.Load() - before
		}
		none := count()
		for i := range 10 {
			w.down(fmt.Sprintf("h%d.test", i))
		}
		if many := count(); many != none {
			w.Errorf("%d queries for many alerts, %d for none", many, none)
		}
	})
}

// The listed event kinds are those that rules can send.
func TestEvents_API(t *testing.T) {
	each(t, func(w *world) {
		_, to := w.channel()
		list := w.Do("GET", "/v1/alert-events", "").Want(200)
		kinds := apptest.Items(list)
		if len(kinds) != len(w.Alerts.Types()) || list["next_page_token"] != "" {
			w.Errorf("kinds %v", list)
		}
		for _, k := range kinds {
			if k["label"] == "" || k["help"] == "" {
				w.Errorf("a kind without a text: %v", k)
			}
			w.add("/v1/alert-rules", `{"events":["`+k["kind"].(string)+`"],"channels":["`+to+`"]}`)
		}
		down := slices.IndexFunc(kinds, func(k map[string]any) bool { return k["kind"] == "target.down" })
		apptest.Has(w.TB, kinds[max(down, 0)], map[string]any{"kind": "target.down", "severity": "critical"})
	})
}

// Alerts are filtered by event, severity, subject and time. A value that is not one of them is 400.
func TestFilterAlerts_API(t *testing.T) {
	each(t, func(w *world) {
		for query, location := range map[string]string{
			"event=target.gone": "query.event", "severity=fatal": "query.severity", "since=yesterday": "query.since", "state=x": "query.state",
		} {
			w.Do("GET", "/v1/alerts?"+query, "").Problem(400, "invalid-request", location)
		}
		w.Do("GET", "/v1/alerts?state=firing&event=target.down&severity=critical&subject=t_1&since=2026-01-01T00:00:00Z", "").Want(200)
	})
}
