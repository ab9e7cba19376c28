package alerts_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"gorm.io/gorm"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
	"linkwatch/models/targets"
)

// The link in a message works without a login. Opening it changes nothing.
func TestManageByTheLinkOfAMessage(t *testing.T) {
	a := newPagesApp(t, apptest.Set("ADMIN_PASSWORD", "a-long-password"), apptest.Set("AUTH_JWT_SECRET", "a-secret-of-32-characters-at-least"))
	a.rule("All", a.channel("Ops"))
	one := a.down("Shop", hostile)
	path := a.Alerts.ManagePath(one.ID)
	bare, query, _ := strings.Cut(path, "?")
	key := url.Values{"key": {strings.TrimPrefix(query, "key=")}}
	for range 2 {
		p := a.Get(path)
		apptest.WantStatus(t, p, http.StatusOK)
		noSecret(t, p)
		apptest.WantText(t, p, "h1", "Shop is down: "+hostile)
		apptest.WantCount(t, p, "nav, header, a, [hx-get]", 0)
		for name, want := range map[string]string{"Referrer-Policy": "same-origin", "X-Robots-Tag": "noindex, nofollow", "Cache-Control": "no-store"} {
			if got := p.Header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	}
	if now, err := a.Alerts.Alert(a.Context(), one.ID); err != nil || !now.AcknowledgedAt.IsZero() {
		t.Errorf("opening the link acknowledged the alert: %v, %v", now, err)
	}
	form := func(name, value string) url.Values { return url.Values{"key": key["key"], name: {value}} }
	p := a.Follow(bare, form("minutes", "60"))
	apptest.WantText(t, p, ".flash", "Silenced. Only the recovery is sent.")
	apptest.WantText(t, p, ".state", "silenced until")
	p = a.Follow(bare, form("minutes", "0"))
	apptest.WantText(t, p, ".flash", "Silence ended.")
	apptest.WantCount(t, p, `button[value="0"]`, 0)
	a.Follow(bare, form("minutes", "60"))
	apptest.WantCount(t, a.Get(path), `button[name=minutes]`, 1)
	p = a.Follow(bare, form("action", "acknowledge"))
	apptest.WantText(t, p, ".flash", "Acknowledged.")
	apptest.WantCount(t, p, `button[value="acknowledge"]`, 0)
	for _, minutes := range []string{"x", "-1", "10081", "99999999999999999999"} {
		p = a.Post(bare, form("minutes", minutes))
		apptest.WantStatus(t, p, http.StatusBadRequest)
		apptest.WantText(t, p, "main", "Silence must be 0 to 10,080 minutes.")
	}

	a.addEvent(event.Ended, one.SubjectID, "Shop", "")
	p = a.Get(path)
	apptest.WantText(t, p, ".state", "Resolved after")
	apptest.WantCount(t, p, "form", 0)
	apptest.WantText(t, a.Follow(bare, form("action", "acknowledge")), ".flash", "This alert is already resolved.")

	for _, wrong := range []apptest.Page{
		a.Get(bare), a.Get(bare + "?key=wrong"), a.Get(strings.Replace(path, one.ID, models.NewID(models.KindAlert), 1)),
		a.Post(bare, url.Values{"action": {"acknowledge"}}), a.Post(bare, url.Values{"action": {"acknowledge"}, "key": {"wrong"}}),
	} {
		apptest.WantStatus(t, wrong, http.StatusNotFound)
		apptest.WantCount(t, wrong, "nav, a", 0)
		apptest.WantText(t, wrong, "main", "This link is invalid, or the alert was deleted. Open the latest message.")
		if strings.Contains(wrong.HTML, "Shop") || wrong.Header.Get("Referrer-Policy") != "same-origin" {
			t.Errorf("response to a wrong key: %s", wrong.HTML)
		}
	}
	apptest.WantStatus(t, a.Get("/alerts/"+one.ID), http.StatusSeeOther) // to the login
}

// grouped creates an alert of two targets of a host, and another alert. It returns the ID of the first and of its targets.
func (a *pagesApp) grouped() (id string, subjects []string) {
	a.Helper()
	a.rule("All", a.channel("Ops"))
	var down []event.Event
	for _, name := range []string{"Cart", "Pay"} {
		subject := models.NewID(models.KindTarget)
		subjects = append(subjects, subject)
		down = append(down, event.Event{
			Kind: targets.EventDown, Phase: event.Started, Severity: event.Critical, SubjectKind: "target", SubjectID: subject, Name: name, Host: "shop.test:8443",
			At: models.At(a.Clock.Now()), Failures: 1, Detail: "cause of " + name,
		})
	}
	a.Must(a.DB.Write(a.Context(), func(tx *gorm.DB) error { return event.Add(tx, down...) }))
	a.addEvent(event.Started, models.NewID(models.KindTarget), "Other", "")
	page, err := a.Alerts.Filtered(a.Context(), alerts.Filter{Subject: subjects[0]}, models.Cursor{}, 1)
	a.Must(err)
	return page.Items[0].ID, subjects
}

// The page of an alert acknowledges some of its targets, also without JavaScript, and undoes it.
func TestAcknowledgeSomeTargets(t *testing.T) {
	a := newPagesApp(t)
	id, subjects := a.grouped()
	path := "/alerts/" + id
	const boxes, all, undo = "#now input[name=subjects]", `main form[action$="/acknowledge"]:not(.bulk)`, `.page-head form[action$="/unacknowledge"]`
	p := a.Get(path)
	apptest.WantText(t, p, "[data-row] label:has(input[form=acknowledge])", "Cart")
	apptest.WantCount(t, p, boxes, 2)
	apptest.WantText(t, p, "form#acknowledge button", "Acknowledge selected")
	apptest.WantCount(t, p, undo, 0)
	some := func(selected ...string) apptest.Page {
		return a.Follow(path+"/acknowledge", url.Values{"action": {"acknowledge_selected"}, "subjects": selected})
	}
	apptest.WantText(t, some(), ".flash", "Select at least one item to acknowledge.")
	apptest.WantCount(t, a.Get(path), boxes, 2)
	apptest.WantStatus(t, a.Post(path+"/acknowledge", url.Values{"action": {"acknowledge_selected"}, "subjects": {"t_other"}}), http.StatusBadRequest)

	p = some(subjects[0])
	apptest.WantText(t, p, ".flash", "Acknowledged. Reminders of the selected items are off.")
	apptest.WantText(t, p, "[data-row]:contains(Cart)", "ongoing, acknowledged")
	for sel, n := range map[string]int{boxes: 1, all: 1, undo: 1} {
		apptest.WantCount(t, p, sel, n)
	}
	if now, err := a.Alerts.Alert(a.Context(), id); err != nil || !now.AcknowledgedAt.IsZero() {
		t.Errorf("the alert is acknowledged: %v, %v", now, err)
	}
	p = a.Submit(p, ".flash form")
	for sel, n := range map[string]int{boxes: 2, all: 1, undo: 0} {
		apptest.WantCount(t, p, sel, n)
	}

	p = some(subjects...)
	for sel, n := range map[string]int{boxes: 0, "form.bulk": 0, all: 0, undo: 1} {
		apptest.WantCount(t, p, sel, n)
	}
	apptest.WantText(t, p, ".state", "acknowledged")
	apptest.WantText(t, a.Submit(p, undo), ".flash", "Acknowledgement removed.")
	apptest.WantCount(t, a.Get("/alerts/"+a.down("Alone", "").ID), boxes, 0)
}

// The page behind the link lists the targets with their causes, and acknowledges all or some.
func TestManageSomeTargets(t *testing.T) {
	a := newPagesApp(t)
	id, ids := a.grouped()
	path := a.Alerts.ManagePath(id)
	bare, query, _ := strings.Cut(path, "?key=")
	form := func(action string, subjects ...string) url.Values {
		return url.Values{"key": {query}, "action": {action}, "subjects": subjects}
	}
	apptest.WantText(t, a.Get(path), ".manage-subjects", "Cart Cause of Cart")
	apptest.WantCount(t, a.Get(path), "input[type=checkbox]", 2)
	apptest.WantText(t, a.Follow(bare, form("acknowledge_selected")), ".flash", "Select at least one item")
	p := a.Follow(bare, form("acknowledge_selected", ids[0]))
	apptest.WantText(t, p, ".flash", "Acknowledged.")
	apptest.WantCount(t, p, "input[type=checkbox]", 1)
	apptest.WantCount(t, p, "button[value=acknowledge]", 1)
	apptest.WantStatus(t, a.Post(bare, form("acknowledge_selected", "t_other")), http.StatusBadRequest)
	p = a.Follow(bare, form("acknowledge"))
	apptest.WantCount(t, p, "input[type=checkbox], button[value=acknowledge]", 0)
	if now, err := a.Alerts.Alert(a.Context(), id); err != nil || now.AcknowledgedAt.IsZero() {
		t.Errorf("the alert is not acknowledged: %v, %v", now, err)
	}
}
