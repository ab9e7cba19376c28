package alerts

import (
	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/alerts"
	views "linkwatch/views/alerts"
	"linkwatch/views/ui"
)

// undo is what a page says after an action that can be undone. The parameter holds an id.
type undo struct {
	param string
	kind  models.Kind
	text  string
	path  func(id string) string
}

var undos = []undo{
	{"channel_deleted", models.KindChannel, "The channel is deleted. Nothing is sent to it.", func(id string) string { return views.ChannelPath(id) + "/restore" }},
	{"rule_deleted", models.KindRule, "The rule is deleted.", func(id string) string { return views.RulePath(id) + "/restore" }},
	{"maintenance_deleted", models.KindMaintenance, "The maintenance window is deleted.", func(id string) string { return views.WindowPath(id) + "/restore" }},
	{"alert_acknowledged", models.KindAlert, "Acknowledged. Reminders are off.", func(id string) string { return alerts.AlertPath(id) + "/unacknowledge" }},
	{"alert_silenced", models.KindAlert, "Silenced. No messages until then.", func(id string) string { return alerts.AlertPath(id) + "/silence" }},
}

// Flashes are what pages say after actions on alerts.
func (p Pages) Flashes() pages.Flash {
	f := pages.Flash{Read: p.flash, Notices: map[string]ui.Flash{
		"alert_reopened":       {Text: "It is no longer acknowledged."},
		"alert_loud":           {Text: "It is no longer silenced."},
		"alerts_none":          {Text: "Select alerts first.", Bad: true},
		"alerts_unchanged":     {Text: "Nothing changed: the selected alerts are resolved or acknowledged.", Bad: true},
		"alerts_undone":        {Text: "Undone."},
		"alerts_not_undone":    {Text: "Could not undo: the alerts have changed since.", Bad: true},
		"alert_me":             {Text: "Rule added. All channels get the important alerts."},
		"alert_me_known":       {Text: "A rule tells of this already."},
		"alert_me_channel":     {Text: "Add a channel first. Then choose “Alert me” again.", Bad: true},
		"channel_added":        {Text: "The channel is added. Send a test message to it next."},
		"channel_enabled":      {Text: "The channel is enabled."},
		"channel_disabled":     {Text: "The channel is disabled. Nothing is sent to it."},
		"channel_restored":     {Text: "The channel is restored."},
		"rule_added":           {Text: "The rule is added."},
		"rule_enabled":         {Text: "The rule is enabled."},
		"rule_disabled":        {Text: "The rule is disabled."},
		"rule_restored":        {Text: "The rule is restored."},
		"maintenance_added":    {Text: "The maintenance window is added."},
		"maintenance_restored": {Text: "The maintenance window is restored."},
	}}
	for _, u := range undos {
		f.Params = append(f.Params, u.param)
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
	f, found = bulkFlash(c, here)
	return f, found, nil
}

// did goes on to a page that says what was done and offers to undo it, or fails.
func (p Pages) did(c *gin.Context, err error, path, param string) {
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.SeeOther(c, pages.With(path, param, c.Param("id")))
}
