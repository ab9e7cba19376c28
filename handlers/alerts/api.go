package alerts

import (
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"linkwatch/handlers/api"
	"linkwatch/models"
	"linkwatch/models/alerts"
)

// The groups of operations in the OpenAPI document.
const (
	groupAlerts      = "Alerts"
	groupChannels    = "Alert channels"
	groupRules       = "Alert rules"
	groupMaintenance = "Maintenance"
)

// Groups are the groups of the operations.
func Groups() []*huma.Tag {
	return []*huma.Tag{
		{Name: groupAlerts, Description: "What people were told of, and what goes on."},
		{Name: groupChannels, Description: "Services, mailboxes and webhooks to which alerts are sent."},
		{Name: groupRules, Description: "Which events are sent to which channels, and when."},
		{Name: groupMaintenance, Description: "Times in which no alerts are sent and which do not count against uptime."},
	}
}

// Register adds the operations to the API.
func (a API) Register(r *api.API) {
	a.registerAlerts(r)
	a.registerChannels(r)
	a.registerRules(r)
	a.registerMaintenance(r)
}

// ScopeSettings are what the owner of a rule or a maintenance window says of what it is for.
type ScopeSettings struct {
	Targets     api.Member[[]string] `json:"targets,omitempty" maxItems:"500" example:"[\"t_01HZ8QK3V5W7X9YABCDEFG\"]" doc:"Ids of at most 500 targets. null removes them. Without targets, tags and status_pages it is for everything"`
	Tags        api.Member[[]string] `json:"tags,omitempty" maxItems:"500" example:"[\"shop\"]" doc:"At most 500 tags of saved links, each of at most 64 characters. A target has those of the link with its URL. null removes them"`
	StatusPages api.Member[[]string] `json:"status_pages,omitempty" maxItems:"500" example:"[\"h_01HZ8QK3V5W7X9YABCDEFG\"]" doc:"Ids of at most 500 status pages, for their targets. null removes them"`
}

// check refuses a blank tag: without it, a rule for one tag could become one for everything.
func (s ScopeSettings) check() error {
	for i, tag := range s.Tags.Value {
		if models.CleanLine(tag) == "" {
			return models.Invalid(fmt.Sprintf("tags[%d]", i), "must not be empty")
		}
	}
	return nil
}

// apply changes what was given.
func (s ScopeSettings) apply(to *alerts.Scope) {
	setList(s.Targets, &to.Targets)
	setList(s.Tags, &to.Tags)
	setList(s.StatusPages, &to.StatusPages)
}

func setList(m api.Member[[]string], list *alerts.List) {
	if m.Given {
		*list = m.Value
	}
}

// wireList is never null.
func wireList(l alerts.List) []string { return append([]string{}, l...) }
