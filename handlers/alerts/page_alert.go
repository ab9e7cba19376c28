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
	var members map[int64][]alerts.AlertSubject
	var told map[int64][]alerts.Delivery
	var flash ui.Flash
	if !p.Read(c,
		func() (err error) { a, err = p.Alerts.Alert(ctx, c.Param("id")); return },
		func() (err error) { members, err = p.Alerts.SubjectsOf(ctx, []alerts.Alert{a}, views.Shown); return },
		func() (err error) { told, err = p.Alerts.DeliveriesOf(ctx, []alerts.Alert{a}, views.Shown); return },
		func() (err error) { v.Names, err = p.channelNames(ctx); return },
		func() (err error) { flash, err = p.Flash(c, alerts.AlertPath(c.Param("id"))); return },
	) {
		return
	}
	v.Row = views.NewRow(a, p.Alerts.Type(a.Event), p.Alerts.Message(a), told[a.Seq], v.Names)
	v.Type, v.Members, v.Deliveries = p.Alerts.Type(a.Event), members[a.Seq], told[a.Seq]
	v.Page = p.Page(v.Row.Message, section, flash)
	p.ShowPart(c, http.StatusOK, views.AlertPage(v), views.AlertNow(v))
}

// Acknowledge marks an alert as acknowledged.
func (p Pages) Acknowledge(c *gin.Context) {
	_, err := p.Alerts.Acknowledge(c.Request.Context(), c.Param("id"))
	p.doneWithUndo(c, err, p.Back(c, alerts.AlertPath(c.Param("id"))), "alert_acknowledged")
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
		p.Done(c, nil, back, "alert_loud")
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

// AttendPage is the public page of an alert that messages link to. A GET changes nothing, because programs open links to preview them.
func (p Pages) AttendPage(c *gin.Context) {
	if a, ok := p.attended(c, c.Query("key")); ok {
		p.showAttend(c, a, c.Query("key"), attendNotices[c.Query("did")])
	}
}

// attendNotices are the notices of the public page, by the query parameter "did".
var attendNotices = map[string]string{
	"acknowledged": "Acknowledged. Reminders are off.",
	"silenced":     "Silenced. Only the recovery is sent.",
	"loud":         "Silence ended.",
	"over":         "This alert is already resolved. Nothing changed.",
}

// Attend acknowledges or silences an alert for a visitor with the key.
func (p Pages) Attend(c *gin.Context) {
	a, ok := p.attended(c, c.PostForm("key"))
	if !ok {
		return
	}
	ctx := c.Request.Context()
	var err error
	did := "acknowledged"
	if c.PostForm("action") == "acknowledge" {
		_, err = p.Alerts.Acknowledge(ctx, a.ID)
	} else {
		var d time.Duration
		if d, err = minutes(c); err == nil {
			_, err = p.Alerts.Silence(ctx, a.ID, d)
		}
		if did = "silenced"; d == 0 {
			did = "loud"
		}
	}
	if models.CodeOf(err) == models.CodeConflict {
		did, err = "over", nil
	}
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.SeeOther(c, pages.With(p.Alerts.AttendPath(a.ID), "did", did))
}

// attended returns the alert of a request with its key, and sets the actor of the request to a visitor. If ok is false, the response is
// already written. A wrong key gets the same response as an alert that does not exist.
func (p Pages) attended(c *gin.Context, key string) (a alerts.Alert, ok bool) {
	hide(c)
	id := c.Param("id")
	err := error(models.NotFound("alert"))
	if p.Alerts.ValidAttendKey(id, key) {
		c.Request = c.Request.WithContext(models.WithActor(c.Request.Context(), middleware.Visitor(c.Request))) // also for signed-in users: the key grants access
		a, err = p.Alerts.Alert(c.Request.Context(), id)
	}
	if err != nil {
		p.Fail(c, err)
		return a, false
	}
	return a, true
}

func (p Pages) showAttend(c *gin.Context, a alerts.Alert, key, done string) {
	p.ShowCached(c, http.StatusOK, "no-store", views.AttendPage(views.Attend{Alert: a, Message: p.Alerts.Message(a), Key: key, Done: done, Now: p.Alerts.Now()}))
}
