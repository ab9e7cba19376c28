package alerts

import (
	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/alerts"
	views "linkwatch/views/alerts"
	"linkwatch/views/ui"
)

// undo is the notice of an action that can be undone. The value of the query parameter is an ID.
type undo struct {
	param string
	kind  models.Kind
	text  string
	path  func(id string) string
}

var undos = []undo{
	{"channel_deleted", models.KindChannel, "Channel deleted. Alerts are no longer sent to it.", func(id string) string { return views.ChannelPath(id) + "/restore" }},
	{"rule_deleted", models.KindRule, "Rule deleted.", func(id string) string { return views.RulePath(id) + "/restore" }},
	{"maintenance_deleted", models.KindMaintenance, "Maintenance window deleted.", func(id string) string { return views.WindowPath(id) + "/restore" }},
	{"alert_acknowledged", models.KindAlert, "Acknowledged. Reminders are off.", unacknowledgePath},
	{"alert_some", models.KindAlert, manageNotices["some"], unacknowledgePath},
	{"alert_silenced", models.KindAlert, "Silenced. Only the recovery is sent.", func(id string) string { return alerts.AlertPath(id) + "/silence" }},
}

func unacknowledgePath(id string) string { return alerts.AlertPath(id) + "/unacknowledge" }

// alertMes are the notices of AlertMe, which link to a rule. The value of the query parameter is its ID.
var alertMes = []struct {
	param  string
	one    bool // the request was for one channel
	result alerts.AlertMeResult
	text   string
}{
	{"alert_me_added", false, alerts.AlertMeAdded, "Rule added. All enabled channels get important alerts."},
	{"alert_me_extended", false, alerts.AlertMeExtended, "Channels added to a rule. All enabled channels get important alerts."},
	{"alert_me_added_one", true, alerts.AlertMeAdded, "Rule added. The channel gets important alerts."},
	{"alert_me_extended_one", true, alerts.AlertMeExtended, "Channel added to a rule. It gets important alerts."},
}

// alertMeParam returns the query parameter of the notice of AlertMe.
func alertMeParam(req alerts.AlertMeRequest, result alerts.AlertMeResult) string {
	for _, a := range alertMes {
		if a.result == result && a.one == (req.Channel != "") {
			return a.param
		}
	}
	return ""
}

// Flashes returns the notices after actions on alerts.
func (p Pages) Flashes() pages.Flash {
	f := pages.Flash{Read: p.flash, Notices: map[string]ui.Flash{
		"alert_none":           {Text: manageNotices["none"], Bad: true},
		"alert_reopened":       {Text: "Acknowledgement removed."},
		"alert_unsilenced":     {Text: "Silence ended."},
		"alerts_none":          {Text: "Select alerts first.", Bad: true},
		"alerts_unchanged":     {Text: "Nothing changed. The selected alerts are already resolved or acknowledged.", Bad: true},
		"alerts_undone":        {Text: "Undone."},
		"alerts_not_undone":    {Text: "Could not undo: these alerts have changed since.", Bad: true},
		"alerts_unsilenced":    {Text: "Silence ended."},
		"alert_me_known":       {Text: "All enabled channels already get these alerts."},
		"alert_me_channel":     {Text: "Add or enable a channel first, then choose “Alert me” again.", Bad: true},
		"alert_me_private":     {Text: "The target is private. Add a private channel first, then choose “Alert me” again.", Bad: true},
		"channel_added":        {Text: "Channel added. Send a test message next."},
		"channel_enabled":      {Text: "Channel enabled."},
		"channel_disabled":     {Text: "Channel disabled. Alerts are not sent to it."},
		"channel_unsigned":     {Text: "Saved. The secret was removed, so requests are no longer signed."},
		"channel_restored":     {Text: "Channel restored."},
		"rule_added":           {Text: "Rule added."},
		"rule_enabled":         {Text: "Rule enabled."},
		"rule_disabled":        {Text: "Rule disabled."},
		"rule_restored":        {Text: "Rule restored."},
		"maintenance_added":    {Text: "Maintenance window added."},
		"maintenance_restored": {Text: "Maintenance window restored."},
	}}
	for _, u := range undos {
		f.Params = append(f.Params, u.param)
	}
	for _, a := range alertMes {
		f.Params = append(f.Params, a.param)
	}
	f.Params = append(f.Params, paramAcknowledged, paramSilenced)
	return f
}

func (p Pages) flash(c *gin.Context, here string) (f ui.Flash, found bool, err error) {
	for _, u := range undos {
		if id := c.Query(u.param); models.CheckID(u.kind, id) == nil {
			action := ui.Action{Label: "Undo", Path: u.path(id), Back: here}
			if u.param == "alert_silenced" {
				action.Name, action.Value = "minutes", "0"
			}
			return ui.Flash{Text: u.text, Action: action}, true, nil
		}
	}
	for _, a := range alertMes {
		if id := c.Query(a.param); models.CheckID(models.KindRule, id) == nil {
			return ui.Flash{Text: a.text, Link: ui.Link{Label: "Open rule", Path: views.RulePath(id)}}, true, nil
		}
	}
	f, found = bulkFlash(c, here)
	return f, found, nil
}

// doneWithUndo redirects to a page with a notice that offers to undo the action, or shows the error.
func (p Pages) doneWithUndo(c *gin.Context, err error, path, param string) {
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.SeeOther(c, pages.With(path, param, c.Param("id")))
}
