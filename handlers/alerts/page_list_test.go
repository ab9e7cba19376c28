package alerts_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
	"linkwatch/models/modelstest"
)

func TestSetupSteps(t *testing.T) {
	a := newPagesApp(t)
	p := a.Get("/alerts")
	apptest.WantCount(t, p, `nav[aria-label=Main] a[href="/alerts"][data-key=e][aria-current="page"]`, 1)
	apptest.WantText(t, p, ".empty", "No alerts yet")
	apptest.WantCount(t, p, `.empty a[href="/alerts/channels/new"]`, 1)
	apptest.WantText(t, a.Get("/"), "main", "Get alerts")
	apptest.WantText(t, a.Follow("/alerts/alert-me", nil), ".flash.bad", "Add or enable a channel first")

	a.channel("Ops")
	p = a.Submit(a.Get("/alerts"), `form[action="/alerts/alert-me"]`)
	apptest.WantText(t, p, ".flash", "Rule added. All enabled channels get important alerts.")
	apptest.WantText(t, p, "[data-row]", "Important alerts Link dead, Target down, Target up again")
	apptest.WantText(t, p, "[data-row]", "→ Ops For everything")
	apptest.WantText(t, a.Get(p.Find(".flash a").AttrOr("href", "")), "h1", "Important alerts")
	apptest.WantText(t, a.Follow("/alerts/alert-me", nil), ".flash", "All enabled channels already get these alerts.")
	apptest.WantText(t, a.Get("/alerts"), ".empty", "Alerts are set up:")
}

func TestListOfAlerts(t *testing.T) {
	a := newPagesApp(t)
	a.rule("All", a.channel(hostile))
	first := a.down("First", hostile)
	a.addEvent(event.Ended, first.SubjectID, "First", "")
	second := a.down("Second", "status 500")
	third := a.down(hostile, "status 502")
	p := a.Get("/alerts")
	noSecret(t, p)
	apptest.WantText(t, p, "nav[aria-label=State]", "all 4 unacknowledged 2 firing 2 resolved 2")
	apptest.WantText(t, p, "#"+second.ID, "critical Second is down: status 500")
	apptest.WantText(t, p, "#"+second.ID, hostile+" pending")
	apptest.WantText(t, p, "#"+first.ID, "resolved")
	apptest.WantCount(t, p, "#"+third.ID+` a[href="/watch/`+third.SubjectID+`"]`, 1)

	p = a.Submit(p, "#"+third.ID+` form[action$="/acknowledge"]`)
	apptest.WantText(t, p, ".flash", "Acknowledged.")
	apptest.WantText(t, p, "#"+third.ID, "acknowledged")
	if got := p.Find(".alerts li").First().AttrOr("id", ""); got != second.ID {
		t.Errorf("the first alert is %s, want the not acknowledged %s", got, second.ID)
	}
	apptest.WantText(t, a.Submit(p, ".flash form"), ".flash", "Acknowledgement removed.")
	p = a.Follow("/alerts/"+second.ID+"/silence", url.Values{"minutes": {"60"}, "back": {"/alerts"}})
	apptest.WantText(t, p, ".flash", "Silenced. Only the recovery is sent.")
	apptest.WantText(t, p, "#"+second.ID, "silenced until 24 Mar 2026, 13:00 UTC")
	apptest.WantCount(t, p, "#"+second.ID+" .silence", 0)
	apptest.WantText(t, a.Submit(p, ".flash form"), ".flash", "Silence ended.")
	a.Follow("/alerts/"+second.ID+"/silence", url.Values{"minutes": {"60"}})
	p = a.Submit(a.Get("/alerts?state=firing"), "#"+second.ID+` form[action$="/silence"]`)
	apptest.WantText(t, p, ".flash", "Silence ended.")
	apptest.WantCount(t, p, "#"+second.ID+" details.silence[name=silence]", 1)
	if got := p.Request.URL.Query().Get("state"); got != "firing" {
		t.Errorf("the button leads to the state %q", got)
	}

	for query, want := range map[string]int{"?state=unacknowledged": 2, "?state=firing": 2, "?state=resolved": 2, "": 4} {
		apptest.WantCount(t, a.Get("/alerts"+query), ".alerts > li", want)
	}
	for _, path := range []string{"/alerts?state=none", "/alerts?page_token=x"} {
		apptest.WantStatus(t, a.Get(path), http.StatusBadRequest)
	}
	part := a.Part("/alerts?state=resolved")
	apptest.WantCount(t, part, "header", 0)
	if got := part.Find("#alerts").AttrOr("hx-get", ""); got != "/alerts?state=resolved" || got != part.Header.Get("HX-Replace-Url") {
		t.Errorf("the part polls %q, and the address bar would show %q", got, part.Header.Get("HX-Replace-Url"))
	}
}

// The global search finds alerts and settings, and offers the forms of new settings.
func TestSearchForAlerts(t *testing.T) {
	a := newPagesApp(t)
	a.rule("All", a.channel("Ops"))
	one := a.down(hostile, "status 500")
	p := a.Get("/search?q=script")
	noSecret(t, p)
	apptest.WantCount(t, p, `.hits a[href="/alerts/`+one.ID+`"]`, 1)
	apptest.WantText(t, p, ".hits", hostile+" is down: status 500 critical firing")
	apptest.WantText(t, a.Get("/search?q=ops"), ".hits", "Ops channel: Webhook")
	apptest.WantCount(t, a.Get("/search?q=maintenance"), `.actions-list a[href="/alerts/maintenance/new"]`, 1)

	// Severity and state are shown by word and icon, as in the list.
	apptest.WantCount(t, p, ".hits .health.critical + .health.firing", 1)
	_, err := a.Alerts.Acknowledge(a.Context(), one.ID)
	a.Must(err)
	apptest.WantText(t, a.Get("/search?q=script"), ".hits", "critical acknowledged")
	a.addEvent(event.Ended, one.SubjectID, one.SubjectName, "")
	apptest.WantText(t, a.Get("/search?q=script"), ".hits", "critical resolved")
}

func TestAlertsByCursor(t *testing.T) {
	a := newPagesApp(t)
	a.rule("All", a.channel("Ops"))
	for range 27 { // each creates an alert and its recovery
		one := a.down("Shop", "status 500")
		a.addEvent(event.Ended, one.SubjectID, "Shop", "")
		a.Clock.Advance(10 * time.Minute)
	}
	p := a.Get("/alerts")
	apptest.WantCount(t, p, ".alerts > li", 50)
	p = a.Get(p.Find("a[rel=next]").AttrOr("href", ""))
	apptest.WantCount(t, p, ".alerts > li", 4)
	apptest.WantCount(t, p, "a[rel=prev]", 1)
}

func TestPageOfAnAlert(t *testing.T) {
	a := newPagesApp(t)
	to := a.channel("Ops")
	a.rule("All", to)
	one := a.down("Shop", hostile)
	p := a.Get("/alerts/" + one.ID)
	noSecret(t, p)
	apptest.WantText(t, p, "h1", "Shop is down: "+hostile)
	apptest.WantText(t, p, ".timeline", "Started. just now Sent to Ops. just now")
	apptest.WantText(t, p, "[aria-labelledby=subjects]", "1 target")
	apptest.WantText(t, p, "[aria-labelledby=messages]", "Ops Alert pending 0")
	p = a.Submit(p, `form[action$="/acknowledge"]`)
	apptest.WantText(t, p, ".timeline", "Acknowledged.")
	p = a.Submit(p, `.actions form[action$="/unacknowledge"]`)
	apptest.WantText(t, p, ".flash", "Acknowledgement removed.")
	p = a.Follow("/alerts/"+one.ID+"/silence", url.Values{"minutes": {"480"}})
	apptest.WantText(t, p, ".actions", "End silence")
	p = a.Submit(p, `.page-head form[action$="/silence"]`)
	apptest.WantText(t, p, ".flash", "Silence ended.")
	a.addEvent(event.Ended, one.SubjectID, "Shop", "")
	a.Must(a.Alerts.DeleteChannel(a.Context(), to.ID))
	p = a.Get("/alerts/" + one.ID)
	apptest.WantText(t, p, ".timeline", "Resolved after")
	apptest.WantText(t, p, "[aria-labelledby=messages]", "deleted channel")
	apptest.WantCount(t, p, `form[action$="/acknowledge"], #now[hx-get]`, 0)
	for path, want := range map[string]int{"/acknowledge": 409, "/unacknowledge": 409, "/silence": 400} {
		apptest.WantStatus(t, a.Post("/alerts/"+one.ID+path, url.Values{"minutes": {"-1"}}), want)
	}
	apptest.WantStatus(t, a.Get("/alerts/"+models.NewID(models.KindAlert)), http.StatusNotFound)
}

// The number of queries of a page does not depend on the number of rows.
func TestPagesTakeTheSameQueries(t *testing.T) {
	a := newPagesApp(t)
	w := a.Watch("https://watched.test/", "Watched")
	a.many(0, 2)
	one := a.down("Shop", "status 500")
	rule := a.rule("First", a.channel("First"))
	paths := []string{"/", "/alerts", "/alerts?state=resolved", "/alerts/" + one.ID, "/alerts/channels", "/alerts/rules", "/alerts/rules/" + rule.ID, "/alerts/maintenance", "/watch/" + w.ID}
	few := map[string]int64{}
	for _, path := range paths {
		few[path] = a.Count(path)
	}
	a.many(2, 20)
	for _, path := range paths {
		if n := a.Count(path); n != few[path] || n == 0 {
			t.Errorf("%s: %d queries with few rows, %d with many", path, few[path], n)
		}
	}
}

func TestOverviewOfAlerts(t *testing.T) {
	a := newPagesApp(t)
	to := a.channel("Ops")
	a.rule("All", to)
	one := a.down("Shop", "status 500")
	a.Must(a.Alerts.RecordTest(a.Context(), to, "Slack returned 404: "+hostile))
	starts := models.At(a.Clock.Now())
	_, err := a.Alerts.AddMaintenance(a.Context(), alerts.Maintenance{Name: "Upgrade", StartsAt: starts.Add(-time.Minute), EndsAt: starts.Add(time.Hour)})
	a.Must(err)
	p := a.Get("/")
	noSecret(t, p)
	apptest.WantText(t, p, ".needs", "1 failing channel critical failing Ops")
	apptest.WantText(t, p, ".needs", "Slack returned 404: "+hostile)
	apptest.WantText(t, p, ".needs", "1 unacknowledged critical alert critical critical Shop is down: status 500")
	apptest.WantText(t, p, "aside", "Maintenance in progress All Upgrade")
	p = a.Submit(p, `form[action="/alerts/`+one.ID+`/acknowledge"]`)
	apptest.WantText(t, p, ".flash", "Acknowledged.")
	if got := p.Request.URL.Path; got != "/" {
		t.Errorf("the button leads to %s", got)
	}
}

// The overview counts all alerts and shows channels that lost messages and rules without a usable channel.
func TestOverviewOfManyAlerts(t *testing.T) {
	a := newPagesApp(t)
	to, other := a.channel("Ops"), a.channel("Mail")
	a.rule("All", to)
	a.rule("Mails", other)
	for i := range 7 {
		a.down(fmt.Sprintf("Target %d", i), "status 500")
		a.Clock.Advance(2 * time.Minute)
	}
	_, err := a.Alerts.EditChannel(a.Context(), other.ID, alerts.ChannelEdit{Enabled: new(false)})
	a.Must(err)
	a.Clock.Advance(alerts.RetryPeriod)
	_, err = a.Alerts.ExpireMessages(a.Context())
	a.Must(err)
	p := a.Get("/")
	apptest.WantText(t, p, ".needs", "7 unacknowledged critical alerts critical")
	apptest.WantText(t, p, ".needs", "1 failing channel critical failing Ops 7 messages not delivered · last delivered never")
	apptest.WantText(t, p, ".needs", "1 rule without an enabled channel warning no channel Mails")
	a.Must(a.Alerts.RecordTest(a.Context(), to, "Slack returned 404: no_service"))
	apptest.WantText(t, a.Get("/"), ".needs", "Slack returned 404: no_service · 7 messages not delivered · last delivered never")
}

func TestAlertsOnTargetPage(t *testing.T) {
	a := newPagesApp(t)
	w := a.Watch("https://watched.test/", "Watched")
	apptest.WantText(t, a.Get("/watch/"+w.ID), "aside, main", "No rule covers this target. Add channel")
	ops := a.channel("Ops")
	p := a.Submit(a.Get("/watch/"+w.ID), `form[action="/alerts/alert-me"]`)
	apptest.WantText(t, p, ".flash", "Rule added.")
	apptest.WantText(t, p, "main", "Rules: Important alerts: Watched")
	a.addEvent(event.Started, w.ID, "Watched", "status 500")
	apptest.WantText(t, a.Get("/watch/"+w.ID), "main", "critical Watched is down: status 500")
	apptest.WantStatus(t, a.Post("/alerts/alert-me", url.Values{"target": {models.NewID(models.KindTarget)}}), http.StatusNotFound)

	// When all rules of a target are mute, the page offers to send its alerts to the enabled channels.
	off := false
	apptest.WantCount(t, a.Get("/watch/"+w.ID), `form[action="/alerts/alert-me"]`, 0)
	_, err := a.Alerts.EditChannel(a.Context(), ops.ID, alerts.ChannelEdit{Enabled: &off})
	a.Must(err)
	apptest.WantCount(t, a.Get("/watch/"+w.ID), `aside a[href="/alerts/channels"]`, 1)
	a.channel("Mail")
	p = a.Submit(a.Get("/watch/"+w.ID), `form[action="/alerts/alert-me"]`)
	apptest.WantText(t, p, ".flash", "Channels added to a rule.")
	apptest.WantCount(t, p, "aside .failure", 0)
}

// A channel that no rule uses is named on the alerts page and marked in the list of channels.
func TestChannelWithoutARule(t *testing.T) {
	a := newPagesApp(t)
	apptest.WantText(t, a.Get("/alerts?state=firing"), ".nudge", "No channels yet, so no alerts are sent. Add channel")
	ops := a.channel("Ops")
	apptest.WantText(t, a.Get("/alerts?state=firing"), ".nudge", "No rules yet, so no alerts are sent. Alert me")
	apptest.WantText(t, a.Get("/alerts/channels"), ".nudge", "No rules yet, so no alerts are sent. Alert me")
	apptest.WantCount(t, a.Get("/alerts/channels"), ".unused", 0)
	r := a.rule("Mine", ops)
	for _, path := range []string{"/alerts?state=firing", "/alerts/channels"} {
		apptest.WantCount(t, a.Get(path), ".nudge, .unused", 0)
	}
	later, last := a.channel(hostile), a.channel("Last")
	apptest.WantText(t, a.Get("/alerts"), ".empty", "Channels not used by any rule: "+hostile+", Last Alert me")
	apptest.WantText(t, a.Get("/alerts?state=firing"), ".nudge", "Channels not used by any rule: "+hostile+", Last Alert me")
	p := a.Get("/alerts/channels")
	apptest.WantCount(t, p, ".nudge", 0)
	apptest.WantCount(t, p, ".unused", 2)
	apptest.WantText(t, p, "#"+later.ID+" .unused", "not used by any rule")
	p = a.Submit(p, "#"+last.ID+" .unused form")
	apptest.WantText(t, p, ".flash", "Channel added to a rule. It gets important alerts. Open rule")
	apptest.WantCount(t, p, ".unused", 1)
	if got := p.Request.URL.Path; got != "/alerts/channels" {
		t.Errorf("the button leads to %s", got)
	}
	apptest.WantText(t, a.Get(p.Find(".flash a").AttrOr("href", "")), "h1", "Mine")
	p = a.Submit(a.Get("/alerts?state=firing"), `.nudge form`)
	apptest.WantText(t, p, ".flash", "Channels added to a rule. All enabled channels get important alerts.")
	apptest.WantCount(t, p, ".nudge", 0)
	now, err := a.Alerts.Rule(a.Context(), r.ID)
	a.Must(err)
	if len(now.Channels) != 3 {
		t.Errorf("the rule sends to %v", now.Channels)
	}

	_, err = a.Alerts.EditRule(a.Context(), r.ID, func(r *alerts.Rule) { r.Enabled = false })
	a.Must(err)
	apptest.WantText(t, a.Get("/alerts/channels"), ".nudge", "All rules are disabled, so no alerts are sent. Alert me")
	off := false
	for _, c := range []alerts.Channel{ops, later, last} {
		_, err = a.Alerts.EditChannel(a.Context(), c.ID, alerts.ChannelEdit{Enabled: &off})
		a.Must(err)
	}
	apptest.WantText(t, a.Get("/alerts"), ".empty", "All channels are disabled, so no alerts are sent. Channels")
	apptest.WantText(t, a.Follow("/alerts/alert-me", nil), ".flash.bad", "Add or enable a channel first")
	for _, channel := range []string{"x", models.NewID(models.KindChannel)} {
		apptest.WantStatus(t, a.Post("/alerts/alert-me", url.Values{"channel": {channel}}), http.StatusNotFound)
	}
}

// The page of alerts says that a channel fails, also if there are no alerts.
func TestFailingChannelOnListOfAlerts(t *testing.T) {
	a := newPagesApp(t)
	c := a.channel("Team " + hostile)
	a.rule("All", c)
	p := a.Get("/alerts")
	apptest.WantText(t, p, ".empty", "Alerts are set up:")
	apptest.WantCount(t, p, ".nudge", 0)
	modelstest.Exec(t, a.DB, "UPDATE channels SET last_error = 'status 500'")
	p = a.Get("/alerts")
	apptest.WantText(t, p, ".nudge .failure", "Messages are not delivered to 1 channel:")
	apptest.WantText(t, p, ".nudge .failure", "Team "+hostile)
	apptest.WantCount(t, p, `.nudge a[href="/alerts/channels"]`, 1)
	apptest.WantCount(t, p, "main script, main img", 0)
	if strings.Contains(apptest.Text(p, "main"), "Alerts are set up") {
		t.Error("the page says that alerts are set up")
	}
	_, err := a.Alerts.EditChannel(t.Context(), c.ID, alerts.ChannelEdit{Enabled: new(false)})
	a.Must(err)
	apptest.WantText(t, a.Get("/alerts"), "main", "All channels are disabled, so no alerts are sent.")
	apptest.WantCount(t, a.Get("/alerts"), "main .failure", 0)
}
