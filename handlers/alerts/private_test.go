package alerts_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/audit"
	"linkwatch/models/event"
)

// private creates and sends the alert of a private target of bob, and returns the id of the alert.
func (w *world) private(host string) (id string) {
	w.Helper()
	now := w.Alerts.Now()
	e := event.Event{
		Kind: "target.down", Phase: event.Started, Severity: event.Critical, SubjectKind: "target", SubjectID: "t_" + (host + strings.Repeat("x", 22))[:22], Name: "Secret of bob",
		URL: "https://" + host + "/", Host: host, At: now, Detail: "unexpected status 500", PrivateTo: "bob",
	}
	w.Must(w.DB.Write(w.Context(), func(tx *gorm.DB) error { return event.Add(tx, e) }))
	_, err := w.Alerts.ProcessEvents(w.Context(), 100)
	w.Must(err)
	w.Clock.Advance(time.Second)
	_, err = w.Alerts.QueueMessages(w.Context(), 100)
	w.Must(err)
	page, err := w.Alerts.Alerts(w.As("bob").Context(), alerts.Firing, models.Cursor{}, 1)
	w.Must(err)
	if len(page.Items) != 1 {
		w.Fatal("bob has no alert")
	}
	return page.Items[0].ID
}

// bobs adds a private channel, a private rule and an alert of bob.
func (w *world) bobs() (channel, rule, alert string) {
	w.Helper()
	bob := w.As("bob")
	c := bob.Do("POST", "/v1/channels", `{"url":"`+hook+`","name":"Secret channel","private":true}`).Want(201)
	apptest.Has(w.TB, c, map[string]any{"owner": "bob", "private": true})
	channel = c["id"].(string)
	r := bob.Do("POST", "/v1/alert-rules", `{"events":["target.down","target.up"],"name":"Secret rule","channels":["`+channel+`"],"private":true}`).Want(201)
	apptest.Has(w.TB, r, map[string]any{"owner": "bob", "private": true})
	return channel, r["id"].(string), w.private("bob.test")
}

// rows holds the stored settings and alerts and the number of audit entries.
func (w *world) rows() (all []map[string]any) {
	w.Helper()
	for _, sql := range []string{"SELECT * FROM channels ORDER BY seq", "SELECT * FROM alert_rules ORDER BY seq", "SELECT * FROM alerts ORDER BY seq", "SELECT count(*) AS n FROM audit_entries"} {
		var found []map[string]any
		w.Must(w.DB.Read(w.Context()).Raw(sql).Scan(&found).Error)
		all = append(all, found...)
	}
	return all
}

// For alice, private items of bob do not exist in the API and on pages, and no request changes them.
func TestPrivateItemsDoNotExistForOthers(t *testing.T) {
	each(t, func(w *world) {
		channel, rule, alert := w.bobs()
		alice, bob := w.As("alice"), w.As("bob")
		before := w.rows()
		for _, of := range []struct{ method, path, body string }{
			{"GET", "/v1/channels/" + channel, ""},
			{"PATCH", "/v1/channels/" + channel, `{"name":"x"}`},
			{"PATCH", "/v1/channels/" + channel, `{"private":false}`},
			{"DELETE", "/v1/channels/" + channel, ""},
			{"POST", "/v1/channels/" + channel + "/restore", ""},
			{"POST", "/v1/channels/" + channel + "/test", ""},
			{"GET", "/v1/alert-rules/" + rule, ""},
			{"PATCH", "/v1/alert-rules/" + rule, `{"name":"x"}`},
			{"PATCH", "/v1/alert-rules/" + rule, `{"private":false}`},
			{"DELETE", "/v1/alert-rules/" + rule, ""},
			{"POST", "/v1/alert-rules/" + rule + "/restore", ""},
			{"GET", "/v1/alerts/" + alert, ""},
			{"POST", "/v1/alerts/" + alert + "/acknowledge", ""},
			{"POST", "/v1/alerts/" + alert + "/unacknowledge", ""},
			{"POST", "/v1/alerts/" + alert + "/silence", `{"minutes":5}`},
		} {
			alice.Do(of.method, of.path, of.body).Problem(404, "not-found", "")
		}
		for _, path := range []string{"/alerts/" + alert, "/alerts/channels/" + channel, "/alerts/rules/" + rule} {
			apptest.WantStatus(t, alice.Get(path), http.StatusNotFound)
			apptest.WantStatus(t, bob.Get(path), http.StatusOK)
		}
		for _, path := range []string{
			"/alerts/" + alert + "/acknowledge", "/alerts/" + alert + "/unacknowledge", "/alerts/" + alert + "/silence", "/alerts/channels/" + channel, "/alerts/channels/" + channel + "/test",
			"/alerts/channels/" + channel + "/enabled", "/alerts/channels/" + channel + "/delete", "/alerts/channels/" + channel + "/restore", "/alerts/rules/" + rule,
			"/alerts/rules/" + rule + "/enabled", "/alerts/rules/" + rule + "/delete", "/alerts/rules/" + rule + "/restore",
		} {
			apptest.WantStatus(t, alice.Post(path, url.Values{"minutes": {"5"}, "save": {"yes"}, "name": {"x"}}), http.StatusNotFound)
		}
		for _, action := range []url.Values{{"action": {"acknowledge"}}, {"minutes": {"60"}}} {
			action.Set("id", alert)
			apptest.WantText(t, alice.Follow("/alerts/bulk", action), ".flash", "Nothing changed.")
		}
		apptest.WantStatus(t, alice.Post("/alerts/alert-me", url.Values{"channel": {channel}}), http.StatusNotFound)
		alice.Do("POST", "/v1/alert-rules", `{"events":["target.down"],"channels":["`+channel+`"]}`).Problem(400, "invalid-request", "channels[0]")
		if after := w.rows(); !slices.EqualFunc(before, after, func(a, b map[string]any) bool { return sameRow(a, b) }) {
			w.Errorf("alice changed\n%v\nto\n%v", before, after)
		}

		for _, path := range []string{"/v1/channels", "/v1/alert-rules", "/v1/alerts", "/v1/alerts?state=firing", "/v1/alerts?state=unacknowledged"} {
			if got := apptest.Items(alice.Do("GET", path, "").Want(200)); len(got) != 0 {
				w.Errorf("%s: alice gets %v", path, got)
			}
			if got := apptest.Items(bob.Do("GET", path, "").Want(200)); len(got) != 1 {
				w.Errorf("%s: bob gets %v", path, got)
			}
			if got := apptest.Items(w.Do("GET", path, "").Want(200)); len(got) != 1 {
				w.Errorf("%s: an admin gets %v", path, got)
			}
		}
		for _, path := range []string{"/alerts", "/alerts?state=firing", "/alerts/channels", "/alerts/rules", "/alerts/rules/new", "/alerts/maintenance/new", "/search?q=secret", "/"} {
			if p := alice.Get(path); p.StatusCode != http.StatusOK || strings.Contains(p.HTML, "Secret") {
				w.Errorf("%s: status %d, alice reads of bob: %v", path, p.StatusCode, strings.Contains(p.HTML, "Secret"))
			}
		}
		for _, path := range []string{"/alerts", "/alerts/channels", "/alerts/rules", "/alerts/rules/new", "/search?q=secret", "/"} {
			if p := bob.Get(path); !strings.Contains(p.HTML, "Secret") {
				w.Errorf("%s: bob reads nothing of his own", path)
			}
		}
		apptest.Has(w.TB, bob.Do("GET", "/v1/alerts/"+alert, "").Want(200), map[string]any{"private": true})
	})
}

// sameRow compares rows. It treats []byte as string.
func sameRow(a, b map[string]any) bool {
	for k, v := range a {
		if _, ok := v.([]byte); !ok && v != b[k] {
			return false
		}
	}
	return len(a) == len(b)
}

// Only the owner and admins make channels and rules private or shared, by the API and by forms. The owner cannot be set.
func TestSharingOfChannelsAndRules(t *testing.T) {
	each(t, func(w *world) {
		alice, bob := w.As("alice"), w.As("bob")
		c := bob.Do("POST", "/v1/channels", `{"url":"`+hook+`"}`).Want(201)["id"].(string)
		r := bob.Do("POST", "/v1/alert-rules", `{"events":["target.down"],"channels":["`+c+`"]}`).Want(201)["id"].(string)
		for _, at := range []string{"/v1/alert-rules/" + r, "/v1/channels/" + c} {
			apptest.Has(w.TB, alice.Do("GET", at, "").Want(200), map[string]any{"owner": "bob", "private": false})
			alice.Do("PATCH", at, `{"name":"Renamed"}`).Want(200) // shared items belong to the team
			alice.Do("PATCH", at, `{"private":false}`).Want(200)  // unchanged
			alice.Do("PATCH", at, `{"private":true}`).Problem(403, "forbidden", "")
			for _, body := range []string{`{"owner":"alice"}`, `{"private_to":"alice"}`, `{"private":null}`, `{"private":"yes"}`} {
				alice.Do("PATCH", at, body).Want(400)
			}
			bob.Do("PATCH", at, `{"private":true}`).Want(200)
			apptest.Has(w.TB, w.Do("GET", at, "").Want(200), map[string]any{"owner": "bob", "private": true, "name": "Renamed"})
			alice.Do("GET", at, "").Problem(404, "not-found", "")
		}
		bob.Do("PATCH", "/v1/alert-rules/"+r, `{"private":false}`).Problem(400, "invalid-request", "channels")
		w.Do("PATCH", "/v1/channels/"+c, `{"private":false}`).Want(200) // an admin
		w.Do("PATCH", "/v1/alert-rules/"+r, `{"private":false}`).Want(200)

		channel, rule := "/alerts/channels/"+c, "/alerts/rules/"+r
		apptest.WantCount(t, alice.Get(channel), "input[name=private]", 0)
		apptest.WantCount(t, alice.Get(rule), "input[name=private]", 0)
		apptest.WantCount(t, bob.Get(channel), "input[name=private]", 1)
		apptest.WantCount(t, bob.Get(rule), "input[name=private]", 1)
		apptest.WantCount(t, w.Get(rule), "input[name=private]", 0) // access without accounts
		form := url.Values{"name": {"By form"}, "enabled": {"true"}, "sharing": {"true"}, "private": {"true"}, "save": {"yes"}, "events": {"target.down"}, "channels": {c}}
		apptest.WantStatus(t, alice.Post(channel, form), http.StatusForbidden)
		apptest.WantStatus(t, alice.Post(rule, form), http.StatusForbidden)
		bob.Follow(channel, form)
		bob.Follow(rule, form)
		p := bob.Get(rule)
		apptest.WantCount(t, p, "input[name=private][checked]", 1)
		apptest.WantCount(t, p, ".page-head .private", 1)
		apptest.WantCount(t, bob.Get("/alerts/rules"), "#"+r+" .private", 1)
		apptest.WantCount(t, bob.Get("/alerts/channels"), "#"+c+" .private", 1)
		form.Del("private")
		p = bob.Post(rule, form)
		apptest.WantStatus(t, p, http.StatusBadRequest)
		apptest.WantText(t, p, "#channels-error", "must be shared, unless the rule is private")
		form.Del("sharing") // like a form without the field
		bob.Follow(rule, form)
		apptest.Has(w.TB, bob.Do("GET", "/v1/alert-rules/"+r, "").Want(200), map[string]any{"private": true})

		bob.Follow("/alerts/channels", url.Values{"service": {"webhook"}, "name": {"New"}, "url": {hook}, "enabled": {"true"}, "sharing": {"true"}, "private": {"true"}})
		bob.Follow("/alerts/rules", url.Values{"name": {"New"}, "save": {"yes"}, "events": {"target.down"}, "channels": {c}, "sharing": {"true"}, "private": {"true"}})
		if got := len(apptest.Items(alice.Do("GET", "/v1/alert-rules", "").Want(200))) + len(apptest.Items(alice.Do("GET", "/v1/channels", "").Want(200))); got != 0 {
			w.Errorf("alice sees %d", got)
		}
	})
}

// Messages of a shared alert to a private channel are not listed for others.
func TestMessagesToPrivateChannels(t *testing.T) {
	each(t, func(w *world) {
		w.bobs()
		at := w.down("shared.test")
		if got := apptest.Objects(w.As("bob").Do("GET", at, "").Want(200)["deliveries"]); len(got) != 1 {
			w.Errorf("bob gets %v", got)
		}
		if got := apptest.Objects(w.As("alice").Do("GET", at, "").Want(200)["deliveries"]); len(got) != 0 {
			w.Errorf("alice gets %v", got)
		}
		apptest.WantCount(t, w.As("alice").Get(strings.TrimPrefix(at, "/v1")), "main td:contains(deleted)", 0)
	})
}

// The link in a message gives access to a private alert, also for signed-in users. The audit log records the actor as a visitor.
func TestManageAPrivateAlertByItsLink(t *testing.T) {
	each(t, func(w *world) {
		_, _, alert := w.bobs()
		path := w.Alerts.ManagePath(alert)
		bare, query, _ := strings.Cut(path, "?")
		for _, reader := range []*apptest.App{w.App, w.As("alice")} {
			apptest.WantStatus(t, reader.Get(path), http.StatusOK)
			apptest.WantStatus(t, reader.Get(bare+"?key=wrong"), http.StatusNotFound)
		}
		key := strings.TrimPrefix(query, "key=")
		apptest.WantStatus(t, w.As("alice").Post(bare, url.Values{"key": {key}, "action": {"acknowledge"}}), http.StatusSeeOther)
		apptest.WantStatus(t, w.Post(bare, url.Values{"key": {key}, "minutes": {"60"}}), http.StatusSeeOther)
		apptest.WantStatus(t, w.Post(bare, url.Values{"key": {"wrong"}, "minutes": {"60"}}), http.StatusNotFound)
		var es []audit.Entry
		w.Must(w.DB.Read(w.Context()).Where("subject_id = ?", alert).Order("seq").Find(&es).Error)
		if len(es) != 2 || es[0].Action != "alert.acknowledge" || es[1].Action != "alert.silence" {
			w.Fatalf("audited %+v", es)
		}
		for _, e := range es {
			if e.Actor != "visitor" || e.Via != "link" || e.Address != "192.0.2.1" || e.RequestID == "" || e.SubjectKind != "alert" || strings.Contains(e.After, key) {
				w.Errorf("audited %+v", e)
			}
		}
	})
}

// The audit log has the actor of changes by the API, and never the address of a channel.
func TestAuditOfAlerts_API(t *testing.T) {
	each(t, func(w *world) {
		channel, rule, alert := w.bobs()
		bob := w.As("bob")
		bob.Do("PATCH", "/v1/channels/"+channel, `{"url":"`+hook+`/canary","secret":"`+secret+`"}`).Want(200)
		bob.Do("POST", "/v1/channels/"+channel+"/test", "").Want(200)
		bob.Do("PATCH", "/v1/alert-rules/"+rule, `{"after_minutes":5}`).Want(200)
		bob.Do("POST", "/v1/alerts/"+alert+"/acknowledge", "").Want(200)
		bob.Do("DELETE", "/v1/alert-rules/"+rule, "").Want(204)
		bob.Do("POST", "/v1/alert-rules/"+rule+"/restore", "").Want(200)
		bob.Follow("/alerts/bulk", url.Values{"id": {alert}, "minutes": {"60"}})
		var es []audit.Entry
		w.Must(w.DB.Read(w.Context()).Order("seq").Find(&es).Error)
		var got []string
		for _, e := range es {
			got = append(got, e.Actor+" "+e.Action)
			if strings.Contains(e.Before+e.After, "canary") || e.SubjectID == "" || e.Via != "session" {
				w.Errorf("audited %+v", e)
			}
		}
		want := []string{
			"bob channel.add", "bob alert_rule.add", "bob channel.edit", "bob channel.test", "bob alert_rule.edit", "bob alert.acknowledge", "bob alert_rule.delete", "bob alert_rule.restore", "bob alert.silence",
		}
		if !slices.Equal(got, want) {
			w.Errorf("audited %q", got)
		}
	})
}
