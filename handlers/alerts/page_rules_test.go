package alerts_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/alerts"
)

func TestRuleInWords(t *testing.T) {
	a := newPagesApp(t)
	to, second := a.channel("Ops"), a.channel("On call")
	w, other := a.Watch("https://shop.test/", hostile), a.Watch("https://b.test/", "Other")
	p := a.Get("/alerts/rules/new")
	apptest.WantCount(t, p, `input[name=events]`, len(a.Alerts.Types()))
	apptest.WantCount(t, p, `input[name=events][checked]`, len(a.Alerts.DefaultEvents()))
	form := url.Values{
		"save": {"yes"}, "name": {"Shop"}, "enabled": {"true"}, "events": {"target.down", "target.up"}, "channels": {to.ID}, "targets": {w.ID, other.ID}, "tags": {"billing, shop"},
		"after_failures": {"3"}, "after_minutes": {"5"}, "repeat_minutes": {"120"}, "quiet.from": {"22:00"}, "quiet.to": {"07:00"}, "quiet.time_zone": {"Europe/Berlin"},
		"escalate.after_minutes": {"15"}, "escalate.channels": {second.ID},
	}
	p = a.Follow("/alerts/rules", form)
	apptest.WantText(t, p, ".flash", "Rule added.")
	apptest.WantText(t, p, "[data-row]", "Shop Target down, Target up again → Ops For "+hostile+", Other, tag billing, tag shop; after 3 failed checks; after 5 min; reminder every 2 h; "+
		"quiet 22:00–07:00 Europe/Berlin; escalated to “On call” if not acknowledged within 15 min")
	noSecret(t, p)

	a.Must(a.Targets.Delete(a.Context(), other.ID))
	a.Must(a.Alerts.DeleteChannel(a.Context(), to.ID))
	p = a.Get("/alerts/rules")
	apptest.WantText(t, p, "[data-row]", "→ deleted channel For "+hostile+", deleted target")
	p = a.Get(p.Find("[data-row] .title").AttrOr("href", ""))
	apptest.WantText(t, p, "#choices", "Chosen targets "+hostile+" deleted target")
	for _, name := range []string{"after_failures", "after_minutes", "repeat_minutes", "quiet.from", "quiet.to", "quiet.time_zone", "escalate.after_minutes"} {
		if got := p.Find(`input[name="`+name+`"]`).AttrOr("value", ""); got != form.Get(name) {
			t.Errorf("%s is shown as %q, want %q", name, got, form.Get(name))
		}
	}
	form["targets"], form["channels"] = nil, []string{second.ID}
	p = a.Follow(p.Request.URL.Path, form)
	apptest.WantText(t, p, "[data-row]", "→ On call For tag billing, tag shop; after 3 failed checks")
}

func TestRuleErrorsAreNextToTheirField(t *testing.T) {
	a := newPagesApp(t)
	to := a.channel("Ops")
	for _, c := range []struct{ name, value, where, want string }{
		{"name", strings.Repeat("x", 201), "#name-error", "Name must have at most 200 characters."},
		{"events", "", "#events-error", "A chosen event does not exist. Remove it."},
		{"channels", models.NewID(models.KindChannel), "#channels-error", "A chosen channel no longer exists. Choose another."},
		{"targets", "x", "#targets-error", "A chosen target no longer exists. Remove it."},
		{"after_failures", "11", "#after-failures-error", "Failed checks must be a whole number from 1 to 10"},
		{"after_minutes", "x", "#after-minutes-error", "from 0 to 10,080"},
		{"repeat_minutes", "-1", "#repeat-minutes-error", "Reminder interval must be a whole number from 0 to 10,080"},
		{"status_pages", "x", "#status-pages-error", "A chosen status page no longer exists. Remove it."},
		{"escalate.channels", models.NewID(models.KindChannel), "#escalate-channels-error", "A chosen channel no longer exists. Choose another."},
		{"quiet.from", "7", "#quiet-from-error", "From must be a time such as 22:00."},
		{"quiet.to", "22:00", "#quiet-to-error", "To must differ from From."},
		{"quiet.time_zone", "Berlin", "#quiet-time-zone-error", "Time zone must be an IANA name such as Europe/Berlin."},
		{"escalate.after_minutes", "5", "#escalate-channels-error", "Choose at least one channel."},
	} {
		form := url.Values{"save": {"yes"}, "name": {"kept"}, "events": {"target.down"}, "channels": {to.ID}, "tags": {"kept, too"}, "quiet.from": {"22:00"}, "quiet.to": {"07:00"}}
		form.Set(c.name, c.value)
		p := a.Post("/alerts/rules", form)
		apptest.WantStatus(t, p, http.StatusBadRequest)
		apptest.WantText(t, p, c.where, c.want)
		if got := p.Find("input[name=tags]").AttrOr("value", ""); got != "kept, too" {
			t.Errorf("%s: the tags came back as %q", c.name, got)
		}
		if got := p.Find(`input[name="` + c.name + `"]`); got.AttrOr("type", "") != "checkbox" && got.AttrOr("value", "") != c.value {
			t.Errorf("%s came back as %q", c.name, got.AttrOr("value", ""))
		}
	}
	apptest.WantText(t, a.Get("/alerts/rules"), ".empty", "No rules yet")
}

// A form shows all its errors.
func TestAllErrorsOfARuleAndOfAWindow(t *testing.T) {
	a := newPagesApp(t)
	long := strings.Repeat("x", 201)
	for _, c := range []struct {
		path string
		form url.Values
		want map[string]string
	}{
		{"/alerts/rules", url.Values{"name": {long}, "tags": {long}, "after_minutes": {"x"}, "quiet.from": {"22:00"}, "escalate.after_minutes": {"5"}}, map[string]string{
			"name": "Name must have at most 200 characters.", "events": "Choose at least one event.", "channels": "Choose at least one channel.", "tags": "Each tag must have at most 64 characters.",
			"after-minutes": "must be a whole number from 0 to 10,080.", "quiet-to": "To must be a time such as 22:00.", "escalate-channels": "Choose at least one channel.",
		}},
		{"/alerts/maintenance", url.Values{"name": {long}, "starts_at": {"x"}, "time_zone": {"Local"}, "repeat": {"daily"}, "tags": {long}}, map[string]string{
			"name": "Name must have at most 200 characters.", "starts-at": "Starts must be a date and time.", "ends-at": "Ends must be a date and time.",
			"time-zone": "Time zone must be an IANA name", "repeat": "Repeats must be none, weekly or monthly.", "tags": "Each tag must have at most 64 characters.",
		}},
	} {
		c.form.Set("save", "yes")
		p := a.Post(c.path, c.form)
		apptest.WantStatus(t, p, http.StatusBadRequest)
		apptest.WantCount(t, p, ".field-error", len(c.want))
		for field, text := range c.want {
			apptest.WantText(t, p, "#"+field+"-error", text)
		}
	}
}

func TestFindTargetsForARule(t *testing.T) {
	a := newPagesApp(t)
	a.channel("Ops")
	kept, found := a.Watch("https://kept.test/", "Kept"), a.Watch("https://found.test/", "Found one")
	form := url.Values{"find": {"found"}, "look": {"yes"}, "targets": {kept.ID}, "name": {"typed"}, "channels": {"x"}}
	p := a.Post("/alerts/rules", form)
	apptest.WantStatus(t, p, http.StatusOK)
	apptest.WantText(t, p, "#choices", "Chosen targets Kept Found Found one")
	apptest.WantCount(t, p, `#choices input[value="`+found.ID+`"]:not([checked])`, 1)
	if got := p.Find("input[name=name]").AttrOr("value", ""); got != "typed" {
		t.Errorf("the name came back as %q", got)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/alerts/maintenance", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("HX-Request", "true")
	part := a.Browse(r)
	apptest.WantText(t, part, "#choices", "Chosen targets Kept Found Found one")
	apptest.WantCount(t, part, "form", 0)
	form.Set("find", strings.Repeat("x", 600))
	p = a.Post("/alerts/rules", form)
	apptest.WantStatus(t, p, http.StatusBadRequest)
	apptest.WantCount(t, p, "#find-error", 1)
}

func TestDeleteAndRestoreARule(t *testing.T) {
	a := newPagesApp(t)
	a.rule("All", a.channel("Ops"))
	p := a.Submit(a.Get("/alerts/rules"), `form[action$="/enabled"]`)
	apptest.WantText(t, p, "[data-row]", "All disabled")
	p = a.Submit(p, `form[action$="/enabled"]`)
	apptest.WantText(t, p, ".flash", "Rule enabled.")
	p = a.Submit(p, `form[action$="/delete"]`)
	apptest.WantText(t, p, ".flash", "Rule deleted.")
	p = a.Submit(p, ".flash form")
	apptest.WantText(t, p, "[data-row]", "All")
	for _, kind := range []string{"rules/" + models.NewID(models.KindRule), "maintenance/" + models.NewID(models.KindMaintenance)} {
		for _, action := range []string{"", "/delete", "/restore"} {
			apptest.WantStatus(t, a.Post("/alerts/"+kind+action, nil), http.StatusNotFound)
		}
	}
}

func TestMaintenanceInItsTimeZone(t *testing.T) {
	a := newPagesApp(t)
	apptest.WantText(t, a.Get("/alerts/maintenance"), ".empty", "No maintenance windows yet")
	form := url.Values{"save": {"yes"}, "name": {hostile}, "starts_at": {"2026-03-28T22:00"}, "ends_at": {"2026-03-28T23:30"}, "repeat": {"weekly"}, "time_zone": {"Europe/Berlin"}, "tags": {"shop"}}
	p := a.Follow("/alerts/maintenance", form)
	apptest.WantText(t, p, ".flash", "Maintenance window added.")
	apptest.WantText(t, p, "[data-row]", hostile+" Next: Sat 28 Mar 2026, 22:00 – Sat 28 Mar 2026, 23:30 Europe/Berlin Every Saturday at 22:00 Europe/Berlin, for 1 h 30 min For tag shop")
	noSecret(t, p)
	a.Clock.Advance(11*24*time.Hour + 8*time.Hour + 30*time.Minute) // 4 April, 20:30 UTC: daylight saving time has started
	apptest.WantText(t, a.Get("/alerts/maintenance"), "[data-row]", "active Now: Sat 4 Apr 2026, 22:00")
	path := p.Find("[data-row] .title").AttrOr("href", "")
	p = a.Get(path)
	for _, name := range []string{"starts_at", "ends_at", "time_zone", "tags"} {
		if got := p.Find(`input[name="`+name+`"]`).AttrOr("value", ""); got != form.Get(name) {
			t.Errorf("%s is shown as %q, want %q", name, got, form.Get(name))
		}
	}
	for _, c := range []struct{ name, value, want string }{
		{"ends_at", "2026-03-28T22:00", "Ends must be after Starts."}, {"starts_at", "tomorrow", "Starts must be a date and time."}, {"time_zone", "Mars", "Time zone must be an IANA name"},
		{"repeat", "daily", "Repeats must be none, weekly or monthly."}, {"ends_at", "2026-04-28T22:00", "Ends must be at most 7 days after Starts."},
	} {
		wrong := url.Values{}
		for name, values := range form {
			wrong[name] = values
		}
		wrong[c.name] = []string{c.value}
		p := a.Post(path, wrong)
		apptest.WantStatus(t, p, http.StatusBadRequest)
		apptest.WantText(t, p, "#"+strings.ReplaceAll(c.name, "_", "-")+"-error", c.want)
	}
	form.Set("repeat", "none")
	p = a.Follow(path, form)
	apptest.WantText(t, p, "[data-row]", "Ended")
	p = a.Submit(p, `form[action$="/delete"]`)
	apptest.WantText(t, p, ".flash", "Maintenance window deleted.")
	apptest.WantText(t, a.Submit(p, ".flash form"), ".flash", "Maintenance window restored.")
}

// A rule whose channels are all disabled or deleted is marked wherever it is shown.
func TestRuleWithoutAnEnabledChannel(t *testing.T) {
	const text = "No channel is enabled, so no alerts are sent."
	a := newPagesApp(t)
	to, other := a.channel("Ops"), a.channel("Other")
	r := a.rule("Mute one", to)
	a.rule("Other one", other)
	apptest.WantCount(t, a.Get("/alerts/rules"), ".failure", 0)
	off := false
	_, err := a.Alerts.EditChannel(a.Context(), to.ID, alerts.ChannelEdit{Enabled: &off})
	a.Must(err)
	apptest.WantText(t, a.Get("/alerts/rules"), "#"+r.ID+" .failure", text)
	apptest.WantCount(t, a.Get("/alerts/rules"), ".failure", 1)
	apptest.WantText(t, a.Get("/"), ".needs", "1 rule without an enabled channel")
	apptest.WantText(t, a.Get("/"), ".needs", "Mute one "+text)
	watched := a.Do("POST", "/v1/targets", `{"url":"https://shop.test/"}`).Want(201)
	apptest.WantText(t, a.Get("/watch/"+watched["id"].(string)), "aside", text)

	a.Must(a.Alerts.DeleteChannel(a.Context(), to.ID))
	apptest.WantText(t, a.Get("/alerts/rules"), "#"+r.ID+" .failure", text)
	_, err = a.Alerts.EditRule(a.Context(), r.ID, func(r *alerts.Rule) { r.Enabled = false })
	a.Must(err)
	apptest.WantCount(t, a.Get("/alerts/rules"), ".failure", 0)
}
