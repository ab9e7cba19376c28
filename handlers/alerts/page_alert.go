package alerts

import (
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/middleware"
	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/alerts"
	views "linkwatch/views/alerts"
	"linkwatch/views/ui"
)

// AlertPage shows an alert. For htmx it returns the part that updates itself.
func (p Pages) AlertPage(c *gin.Context) {
	ctx := c.Request.Context()
	var v views.Alert
	var a alerts.Alert
	var subjects map[int64][]alerts.AlertSubject
	var deliveries map[int64][]alerts.Delivery
	var flash ui.Flash
	if !p.Read(c,
		func() (err error) { a, err = p.Alerts.Alert(ctx, c.Param("id")); return },
		func() (err error) { subjects, err = p.Alerts.SubjectsOf(ctx, []alerts.Alert{a}, views.Shown); return },
		func() (err error) {
			deliveries, err = p.Alerts.DeliveriesOf(ctx, []alerts.Alert{a}, views.Shown)
			return
		},
		func() (err error) { v.Names, err = p.channelNames(ctx); return },
		func() (err error) { flash, err = p.Flash(c, alerts.AlertPath(c.Param("id"))); return },
	) {
		return
	}
	v.Row = views.NewRow(a, p.Alerts.Type(a.Event), p.Alerts.Message(a), deliveries[a.Seq], v.Names)
	v.Members, v.Deliveries = views.Members{Alert: a, Type: p.Alerts.Type(a.Event), Subjects: subjects[a.Seq]}, deliveries[a.Seq]
	v.Page = p.Page(v.Row.Message, section, flash)
	p.ShowPart(c, http.StatusOK, views.AlertPage(v), views.AlertNow(v))
}

// Acknowledge acknowledges an alert, or the selected subjects.
func (p Pages) Acknowledge(c *gin.Context) {
	back := p.Back(c, alerts.AlertPath(c.Param("id")))
	switch result, err := p.acknowledge(c, c.Param("id")); result {
	case "none":
		p.Done(c, err, back, "alert_none")
	case "some":
		p.doneWithUndo(c, err, back, "alert_some")
	default:
		p.doneWithUndo(c, err, back, "alert_acknowledged")
	}
}

// acknowledge acknowledges an alert, or the subjects that the form selects. It returns a key of manageNotices.
func (p Pages) acknowledge(c *gin.Context, id string) (result string, err error) {
	if c.PostForm("action") != "acknowledge_selected" {
		_, err = p.Alerts.Acknowledge(c.Request.Context(), id)
		return "acknowledged", err
	}
	selected := chosen(c, "subjects")
	if len(selected) == 0 {
		return "none", nil
	}
	_, err = p.Alerts.Acknowledge(c.Request.Context(), id, selected...)
	return "some", err
}

// Unacknowledge undoes Acknowledge.
func (p Pages) Unacknowledge(c *gin.Context) {
	_, err := p.Alerts.Unacknowledge(c.Request.Context(), c.Param("id"))
	p.Done(c, err, p.Back(c, alerts.AlertPath(c.Param("id"))), "alert_reopened")
}

// Silence silences an alert for the number of minutes in the form. 0 ends the silence.
func (p Pages) Silence(c *gin.Context) {
	back := p.Back(c, alerts.AlertPath(c.Param("id")))
	d, err := minutes(c)
	if err == nil {
		_, err = p.Alerts.Silence(c.Request.Context(), c.Param("id"), d)
	}
	if err == nil && d == 0 {
		p.Done(c, nil, back, "alert_unsilenced")
		return
	}
	p.doneWithUndo(c, err, back, "alert_silenced")
}

// minutes reads the duration of a silence from the field "minutes" of a form. It is at most alerts.MaxSilence.
func minutes(c *gin.Context) (time.Duration, error) {
	n, err := strconv.ParseUint(c.PostForm("minutes"), 10, 16)
	d := time.Duration(n) * time.Minute
	if err != nil || d > alerts.MaxSilence {
		wrong := models.Invalid("minutes", "must be 0 to 10,080")
		wrong.Detail = "Silence must be 0 to 10,080 minutes."
		return 0, wrong
	}
	return d, nil
}

// hide keeps the key in the URL of a public page secret: other sites get no referrer, and search engines do not index the page.
func hide(c *gin.Context) {
	c.Header("Referrer-Policy", "same-origin") // "no-referrer" would make form posts cross-origin requests
	c.Header("X-Robots-Tag", "noindex, nofollow")
}

// ManagePage is the public page of an alert that messages link to. A GET changes nothing, because programs open links to preview them.
func (p Pages) ManagePage(c *gin.Context) {
	if a, ok := p.managedAlert(c, c.Query("key")); ok {
		p.showManage(c, a, c.Query("key"), manageNotices[c.Query("result")])
	}
}

// manageNotices are the notices of the public page, by the query parameter "result".
var manageNotices = map[string]string{
	"acknowledged": "Acknowledged. Reminders are off.",
	"some":         "Acknowledged. Reminders of the selected items are off.",
	"none":         "Select at least one item to acknowledge.",
	"silenced":     "Silenced. Only the recovery is sent.",
	"unsilenced":   "Silence ended.",
	"resolved":     "This alert is already resolved. Nothing changed.",
}

// Manage acknowledges or silences an alert for a visitor with the key.
func (p Pages) Manage(c *gin.Context) {
	a, ok := p.managedAlert(c, c.PostForm("key"))
	if !ok {
		return
	}
	var err error
	var result string
	switch c.PostForm("action") {
	case "acknowledge", "acknowledge_selected":
		result, err = p.acknowledge(c, a.ID)
	default:
		var d time.Duration
		if d, err = minutes(c); err == nil {
			_, err = p.Alerts.Silence(c.Request.Context(), a.ID, d)
		}
		if result = "silenced"; d == 0 {
			result = "unsilenced"
		}
	}
	if models.CodeOf(err) == models.CodeConflict {
		result, err = "resolved", nil
	}
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.SeeOther(c, pages.With(p.Alerts.ManagePath(a.ID), "result", result))
}

// managedAlert returns the alert of a request with its key, and sets the actor of the request to a visitor. If ok is false, the response is
// already written. A wrong key gets the same response as an alert that does not exist.
func (p Pages) managedAlert(c *gin.Context, key string) (a alerts.Alert, ok bool) {
	hide(c)
	id := c.Param("id")
	err := error(models.NotFound("alert"))
	if p.Alerts.ValidManageKey(id, key) {
		c.Request = c.Request.WithContext(models.WithActor(c.Request.Context(), middleware.Visitor(c.Request))) // also for signed-in users: the key grants access
		a, err = p.Alerts.Alert(c.Request.Context(), id)
	}
	if err != nil {
		p.Fail(c, err)
		return a, false
	}
	return a, true
}

func (p Pages) showManage(c *gin.Context, a alerts.Alert, key, done string) {
	subjects, err := p.Alerts.SubjectsOf(c.Request.Context(), []alerts.Alert{a}, views.Shown)
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.ShowCached(c, http.StatusOK, "no-store", views.ManagePage(views.Manage{
		Members: views.Members{Alert: a, Type: p.Alerts.Type(a.Event), Subjects: subjects[a.Seq]},
		Message: p.Alerts.Message(a), Key: key, Done: done, Now: p.Alerts.Now(),
	}))
}
