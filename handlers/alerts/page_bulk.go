package alerts

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/alerts"
	views "linkwatch/views/alerts"
	"linkwatch/views/ui"
)

// The query parameters of the notices after bulk actions. Their value is the time that undoes the action, in microseconds, a dot and the
// number of alerts.
const (
	paramAcknowledged = "alerts_acknowledged"
	paramSilenced     = "alerts_silenced"
)

// Bulk acknowledges or silences the selected alerts.
func (p Pages) Bulk(c *gin.Context) {
	ctx, back, ids := c.Request.Context(), p.Back(c, views.AlertsPath), c.PostFormArray("id")
	if len(ids) == 0 {
		p.Done(c, nil, back, "alerts_none")
		return
	}
	param, at, n := paramAcknowledged, models.Time{}, 0
	var err error
	unsilence := false
	if c.PostForm("action") == "acknowledge" {
		at, n, err = p.Alerts.AcknowledgeAll(ctx, ids...)
	} else {
		var d time.Duration
		param = paramSilenced
		if d, err = minutes(c); err == nil {
			at, n, err = p.Alerts.SilenceAll(ctx, d, ids...)
		}
		unsilence = d == 0
	}
	switch {
	case err != nil:
		p.Fail(c, err)
	case n == 0:
		p.Done(c, nil, back, "alerts_unchanged")
	case unsilence:
		p.Done(c, nil, back, "alerts_unsilenced")
	default:
		p.SeeOther(c, pages.With(back, param, fmt.Sprintf("%d.%d", at.UnixMicro(), n)))
	}
}

// UndoBulk undoes a bulk action by its time.
func (p Pages) UndoBulk(c *gin.Context) {
	ctx, back := c.Request.Context(), p.Back(c, views.AlertsPath)
	param, undo := paramAcknowledged, p.Alerts.UnacknowledgeAll
	if c.PostForm(param) == "" {
		param, undo = paramSilenced, p.Alerts.UnsilenceAll
	}
	us, err := strconv.ParseInt(c.PostForm(param), 10, 64)
	if err != nil {
		p.Fail(c, models.Invalid(param, "must be a time in microseconds"))
		return
	}
	n, err := undo(ctx, models.At(time.UnixMicro(us)))
	notice := "alerts_undone"
	if n == 0 {
		notice = "alerts_not_undone"
	}
	p.Done(c, err, back, notice)
}

// bulkFlash returns the notice of a bulk action, if the query has one.
func bulkFlash(c *gin.Context, here string) (f ui.Flash, found bool) {
	for _, action := range []struct{ param, text string }{{paramAcknowledged, "acknowledged. Reminders are off."}, {paramSilenced, "silenced. Only recoveries are sent."}} {
		us, count, _ := strings.Cut(c.Query(action.param), ".")
		n, err := strconv.Atoi(count)
		if _, wrong := strconv.ParseInt(us, 10, 64); err != nil || wrong != nil || n < 1 || n > alerts.MaxBulk {
			continue
		}
		return ui.Flash{Text: ui.Plural(n, "alert") + " " + action.text, Action: ui.Action{Label: "Undo", Path: views.BulkUndoPath, Name: action.param, Value: us, Back: here}}, true
	}
	return ui.Flash{}, false
}
