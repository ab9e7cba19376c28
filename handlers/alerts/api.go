package alerts

import (
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"linkwatch/handlers/api"
	"linkwatch/models"
	"linkwatch/models/alerts"
)

// The tags of the operations in the OpenAPI document.
const (
	groupAlerts      = "Alerts"
	groupChannels    = "Alert channels"
	groupRules       = "Alert rules"
	groupMaintenance = "Maintenance"
)

// Groups returns the tags of the operations.
func Groups() []*huma.Tag {
	return []*huma.Tag{
		{Name: groupAlerts, Description: "Firing and resolved alerts."},
		{Name: groupChannels, Description: "Destinations of alerts: chat and push services, email and webhooks."},
		{Name: groupRules, Description: "Which events are sent to which channels, and when."},
		{Name: groupMaintenance, Description: "Windows in which no alerts are sent and outages do not count against uptime."},
	}
}

// Register adds the operations to the API.
func (a API) Register(r *api.API) {
	a.registerAlerts(r)
	a.registerChannels(r)
	a.registerRules(r)
	a.registerMaintenance(r)
}

// ScopeSettings select what a rule or a maintenance window applies to.
type ScopeSettings struct {
	Targets     api.Member[[]string]     `json:"targets,omitempty" maxItems:"500" example:"[\"t_01HZ8QK3V5W7X9YABCDEFG\"]" doc:"Ids of targets, at most 500. null removes them. Without targets, tags and status_pages it applies to everything"`
	Tags        api.Member[[]string]     `json:"tags,omitempty" maxItems:"500" example:"[\"shop\"]" doc:"Tags of saved links and targets: at most 500, each of at most 64 characters. A target has the tags of the link with the same URL. null removes them"`
	StatusPages api.Member[[]string]     `json:"status_pages,omitempty" maxItems:"500" example:"[\"h_01HZ8QK3V5W7X9YABCDEFG\"]" doc:"Ids of status pages, at most 500: it applies to their targets. null removes them"`
	Subjects    api.Member[[]alerts.Ref] `json:"subjects,omitempty" maxItems:"500" doc:"Targets, links, sources, jobs, pages, websites, short links and tags, at most 500. A source or website includes its jobs and pages. A short link includes the targets and links with its destination. null removes them"`
}

// check refuses blank tags. If they were dropped, a rule for one tag could become a rule for everything.
func (s ScopeSettings) check() error {
	for i, tag := range s.Tags.Value {
		if models.CleanLine(tag) == "" {
			return models.Invalid(fmt.Sprintf("tags[%d]", i), "must not be empty")
		}
	}
	return nil
}

// apply sets the members that were sent.
func (s ScopeSettings) apply(to *alerts.Scope) {
	setList(s.Targets, &to.Targets)
	setList(s.Tags, &to.Tags)
	setList(s.StatusPages, &to.StatusPages)
	if s.Subjects.Given {
		to.Subjects = s.Subjects.Value
	}
}

func setList(m api.Member[[]string], list *alerts.List) {
	if m.Given {
		*list = m.Value
	}
}

// wireRefs returns a list that is never null in JSON.
func wireRefs(r alerts.Refs) []alerts.Ref { return append([]alerts.Ref{}, r...) }

// wireList returns a list that is never null in JSON.
func wireList(l alerts.List) []string { return append([]string{}, l...) }
