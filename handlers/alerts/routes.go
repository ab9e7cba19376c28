package alerts

import (
	"net/http"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"linkwatch/handlers/middleware"
	views "linkwatch/views/alerts"
	"linkwatch/views/ui"
)

// Routes returns the routes of the pages.
func (p Pages) Routes() []middleware.Route {
	const public, viewer, editor = middleware.Public, middleware.Viewer, middleware.Editor
	return append(p.settingRoutes(), []middleware.Route{
		{Method: "GET", Path: "/alerts", Needs: viewer, Handler: p.ListPage},
		{Method: "POST", Path: "/alerts/alert-me", Needs: editor, Handler: p.AlertMe},
		{Method: "POST", Path: "/alerts/bulk", Needs: editor, Handler: p.Bulk},
		{Method: "POST", Path: "/alerts/bulk/undo", Needs: editor, Handler: p.UndoBulk},
		{Method: "GET", Path: "/alerts/:id", Needs: viewer, Handler: p.AlertPage},
		{Method: "POST", Path: "/alerts/:id/acknowledge", Needs: editor, Handler: p.Acknowledge},
		{Method: "POST", Path: "/alerts/:id/unacknowledge", Needs: editor, Handler: p.Unacknowledge},
		{Method: "POST", Path: "/alerts/:id/silence", Needs: editor, Handler: p.Silence},
		{Method: "GET", Path: "/alerts/:id/manage", Needs: public, Handler: p.ManagePage, Problem: p.manageProblem},
		{Method: "POST", Path: "/alerts/:id/manage", Needs: public, Handler: p.Manage, Problem: p.manageProblem},
	}...)
}

// settingRoutes returns the routes of channels, rules and maintenance windows.
func (p Pages) settingRoutes() []middleware.Route {
	const viewer, editor = middleware.Viewer, middleware.Editor
	return []middleware.Route{
		{Method: "GET", Path: "/alerts/channels", Needs: viewer, Handler: p.ChannelsPage},
		{Method: "POST", Path: "/alerts/channels", Needs: editor, Secret: true, Keeps: channelFields, Handler: p.AddChannel},
		{Method: "GET", Path: "/alerts/channels/new", Needs: editor, Secret: true, Handler: p.NewChannel},
		{Method: "GET", Path: "/alerts/channels/:id", Needs: editor, Secret: true, Handler: p.ChannelPage},
		{Method: "POST", Path: "/alerts/channels/:id", Needs: editor, Secret: true, Keeps: channelFields, Handler: p.EditChannel},
		{Method: "POST", Path: "/alerts/channels/:id/test", Needs: editor, Handler: p.TestChannel},
		{Method: "POST", Path: "/alerts/channels/:id/enabled", Needs: editor, Handler: p.EnableChannel},
		{Method: "POST", Path: "/alerts/channels/:id/delete", Needs: editor, Handler: p.DeleteChannel},
		{Method: "POST", Path: "/alerts/channels/:id/restore", Needs: editor, Handler: p.RestoreChannel},
		{Method: "GET", Path: "/alerts/rules", Needs: viewer, Handler: p.RulesPage},
		{Method: "POST", Path: "/alerts/rules", Needs: editor, Keeps: []string{"*"}, Handler: p.AddRule},
		{Method: "GET", Path: "/alerts/rules/new", Needs: editor, Handler: p.NewRule},
		{Method: "GET", Path: "/alerts/rules/:id", Needs: editor, Handler: p.RulePage},
		{Method: "POST", Path: "/alerts/rules/:id", Needs: editor, Keeps: []string{"*"}, Handler: p.EditRule},
		{Method: "POST", Path: "/alerts/rules/:id/enabled", Needs: editor, Handler: p.EnableRule},
		{Method: "POST", Path: "/alerts/rules/:id/delete", Needs: editor, Handler: p.DeleteRule},
		{Method: "POST", Path: "/alerts/rules/:id/restore", Needs: editor, Handler: p.RestoreRule},
		{Method: "GET", Path: "/alerts/maintenance", Needs: viewer, Handler: p.MaintenancePage},
		{Method: "POST", Path: "/alerts/maintenance", Needs: editor, Keeps: []string{"*"}, Handler: p.AddMaintenance},
		{Method: "GET", Path: "/alerts/maintenance/new", Needs: editor, Handler: p.NewMaintenance},
		{Method: "GET", Path: "/alerts/maintenance/:id", Needs: editor, Handler: p.WindowPage},
		{Method: "POST", Path: "/alerts/maintenance/:id", Needs: editor, Keeps: []string{"*"}, Handler: p.EditMaintenance},
		{Method: "POST", Path: "/alerts/maintenance/:id/delete", Needs: editor, Handler: p.DeleteMaintenance},
		{Method: "POST", Path: "/alerts/maintenance/:id/restore", Needs: editor, Handler: p.RestoreMaintenance},
	}
}

// manageProblem shows a problem on the public page of an alert.
func (p Pages) manageProblem(c *gin.Context, problem *middleware.Problem) {
	hide(c)
	p.PublicProblem(c, problem, func(v ui.PublicProblem) templ.Component {
		if problem.Status == http.StatusNotFound {
			v.Detail = "This link is invalid, or the alert was deleted. Open the latest message."
		}
		return views.ManageProblemPage(v)
	})
}

// channelFields are the fields of a channel without its address, which may contain secrets.
var channelFields = []string{"service", "name", "enabled", "private", "sharing", "version"}

// Nav returns the navigation entries of alerts.
func Nav() ui.Nav {
	return ui.Nav{
		Sections: []ui.Section{{ID: section, Label: "Alerts", Path: views.AlertsPath, Key: "e"}},
		Commands: []ui.Command{
			{Label: "Add channel", Path: views.ChannelsPath + "/new"}, {Label: "Add rule", Path: views.RulesPath + "/new"},
			{Label: "Add maintenance window", Path: views.MaintenancePath + "/new"},
		},
		Pages: []ui.Link{
			{Label: "Alert channels", Path: views.ChannelsPath}, {Label: "Alert rules", Path: views.RulesPath}, {Label: "Maintenance", Path: views.MaintenancePath},
		},
	}
}

const section = "alerts"
