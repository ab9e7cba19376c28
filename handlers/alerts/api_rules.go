package alerts

import (
	"context"
	"net/http"
	"time"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/alerts"
)

func (a API) registerRules(r *api.API) {
	api.Register(r, api.Sorts(api.Operation(groupRules, middleware.Viewer, "GET", "/v1/alert-rules", "list-alert-rules", "List alert rules", "Oldest first."), "created_at"), a.listRules)
	add := api.Operation(groupRules, middleware.Editor, "POST", "/v1/alert-rules", "add-alert-rule", "Add an alert rule",
		"It also applies to targets that are already down. 409 if there are 200 rules.", models.CodeConflict)
	add.DefaultStatus = http.StatusCreated
	api.Register(r, add, a.addRule)
	api.Register(r, api.Item(api.Operation(groupRules, middleware.Viewer, "GET", "/v1/alert-rules/{id}", "get-alert-rule", "Get an alert rule",
		"May contain ids of deleted targets, status pages and channels.", models.CodeNotFound),
		"id", "name", "events", "targets", "tags", "status_pages", "subjects", "channels", "after_failures", "after_minutes", "group_wait_seconds", "repeat_minutes", "quiet", "escalate", "enabled", "private"), a.getRule)
	api.Register(r, api.Operation(groupRules, middleware.Editor, "PATCH", "/v1/alert-rules/{id}", "edit-alert-rule", "Edit an alert rule",
		"Omitted members stay as they are, also within quiet and escalate. Channels that were deleted or that the rule can no longer use are removed.", models.CodeNotFound), a.editRule)
	api.Register(r, api.Operation(groupRules, middleware.Editor, "DELETE", "/v1/alert-rules/{id}", "delete-alert-rule", "Delete an alert rule",
		"POST /v1/alert-rules/{id}/restore restores it within a day.", models.CodeNotFound), a.deleteRule)
	api.Register(r, api.Operation(groupRules, middleware.Editor, "POST", "/v1/alert-rules/{id}/restore", "restore-alert-rule", "Restore a deleted alert rule",
		"404 if it is not deleted or was deleted more than a day ago. 409 if there are already 200.", models.CodeNotFound, models.CodeConflict), a.restoreRule)
}

// AlertRulePath is the path parameter of a rule.
type AlertRulePath struct {
	ID string `path:"id" example:"r_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the alert rule"`
}

// AlertRule is a rule in the API.
type AlertRule struct {
	ID            string       `json:"id" example:"r_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the alert rule. Ids sort by creation time"`
	Name          string       `json:"name" example:"Shop" doc:"Name. Default: Alert rule"`
	Events        []string     `json:"events" nullable:"false" example:"[\"target.down\"]" doc:"Event kinds that the rule sends. GET /v1/alert-events lists them"`
	Targets       []string     `json:"targets" nullable:"false" example:"[\"t_01HZ8QK3V5W7X9YABCDEFG\"]" doc:"Ids of targets. Without targets, tags, status_pages and subjects it applies to everything"`
	Tags          []string     `json:"tags" nullable:"false" example:"[\"shop\"]" doc:"Tags of links and targets"`
	StatusPages   []string     `json:"status_pages" nullable:"false" example:"[\"h_01HZ8QK3V5W7X9YABCDEFG\"]" doc:"Ids of status pages: it applies to their targets"`
	Subjects      []alerts.Ref `json:"subjects" nullable:"false" doc:"Items of all kinds that it applies to"`
	Channels      []string     `json:"channels" nullable:"false" example:"[\"a_01HZ8QK3V5W7X9YABCDEFG\"]" doc:"Ids of the channels that receive alerts"`
	AfterFailures int          `json:"after_failures" example:"3" doc:"Consecutive failed checks before an alert is sent. Ignored for events without failure counts"`
	AfterMinutes  int          `json:"after_minutes" example:"5" doc:"Minutes that a condition must last before an alert is sent. 0: send immediately"`
	GroupWait     int          `json:"group_wait_seconds" example:"30" doc:"Seconds to wait for more subjects before the first message of an alert. 0: send immediately"`
	RepeatMinutes int          `json:"repeat_minutes" example:"60" doc:"Minutes between reminders, until the alert is acknowledged or resolved. 0: no reminders"`
	Quiet         *QuietHours  `json:"quiet" doc:"Quiet hours: messages are held until they end. Alerts resolved by then are not sent. null if none"`
	Escalate      *Escalation  `json:"escalate" doc:"Channels that are notified if the alert is not acknowledged in time. null if none"`
	Enabled       bool         `json:"enabled" example:"true" doc:"Whether the rule is active"`
	Owner         string       `json:"owner" example:"alice" doc:"Account that added the rule"`
	Private       bool         `json:"private" example:"false" doc:"Whether only the owner and admins see the rule. Only a private rule sends events of the owner's private items"`
	CreatedAt     time.Time    `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"When the rule was added"`
	UpdatedAt     time.Time    `json:"updated_at" example:"2025-03-24T12:00:00Z" doc:"When the rule was last changed"`
}

// QuietHours are the quiet hours of a rule in the API.
type QuietHours struct {
	_ struct{} `nullable:"true"` // null if the rule has none

	From     string `json:"from" example:"22:00" doc:"Start in local time"`
	To       string `json:"to" example:"07:00" doc:"End in local time. If before from, quiet hours end on the next day"`
	TimeZone string `json:"time_zone" example:"Europe/Berlin" doc:"IANA time zone of from and to"`
}

// Escalation is the escalation of a rule in the API.
type Escalation struct {
	_ struct{} `nullable:"true"` // null if the rule has none

	AfterMinutes int      `json:"after_minutes" example:"30" doc:"Minutes without acknowledgement before the channels are notified"`
	Channels     []string `json:"channels" nullable:"false" example:"[\"a_01HZ8QK3V5W7X9YABCDEFG\"]" doc:"Ids of the channels that are notified"`
}

func toRule(r alerts.Rule) AlertRule {
	out := AlertRule{
		ID: r.ID, Name: r.Name, Events: wireList(r.Events), Targets: wireList(r.Scope.Targets), Tags: wireList(r.Scope.Tags), StatusPages: wireList(r.Scope.StatusPages), Subjects: wireRefs(r.Scope.Subjects),
		Channels: wireList(r.Channels), AfterFailures: r.AfterFailures, AfterMinutes: r.AfterMinutes, GroupWait: r.GroupWaitSeconds, RepeatMinutes: r.RepeatMinutes, Enabled: r.Enabled, Owner: r.Owner, Private: r.PrivateTo != "",
		CreatedAt: r.CreatedAt.Time, UpdatedAt: r.UpdatedAt.Time,
	}
	if r.Quiet.From != "" {
		out.Quiet = &QuietHours{From: r.Quiet.From, To: r.Quiet.To, TimeZone: r.Quiet.TimeZone}
	}
	if r.EscalateAfterMinutes > 0 {
		out.Escalate = &Escalation{AfterMinutes: r.EscalateAfterMinutes, Channels: wireList(r.EscalateChannels)}
	}
	return out
}

func (a API) listRules(ctx context.Context, in *api.SliceParams) (*api.Output[api.Slice[AlertRule]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	l, err := a.Alerts.Rules(ctx, after, limit)
	return api.AnswerSlice(l, toRule, err)
}

// AlertRuleSettings are the optional settings of a rule.
type AlertRuleSettings struct {
	Name api.Member[string] `json:"name,omitempty" example:"Shop" doc:"Name, at most 200 characters. null uses Alert rule"`
	ScopeSettings
	AfterFailures api.Member[int]             `json:"after_failures,omitempty" minimum:"1" maximum:"10" example:"3" doc:"Consecutive failed checks before an alert is sent. Ignored for events without failure counts. null uses 1"`
	AfterMinutes  api.Member[int]             `json:"after_minutes,omitempty" minimum:"0" maximum:"10080" example:"5" doc:"Minutes that a condition must last before an alert is sent. 0 and null: send immediately"`
	GroupWait     api.Member[int]             `json:"group_wait_seconds,omitempty" minimum:"0" maximum:"3600" example:"30" doc:"Seconds to wait for more subjects before the first message of an alert. 0 and null: send immediately"`
	RepeatMinutes api.Member[int]             `json:"repeat_minutes,omitempty" minimum:"0" maximum:"10080" example:"60" doc:"Minutes between reminders, until the alert is acknowledged or resolved. 0 and null: no reminders"`
	Quiet         api.Member[quietChanges]    `json:"quiet,omitempty" doc:"Quiet hours: messages are held until they end. Alerts resolved by then are not sent. null removes them"`
	Escalate      api.Member[escalateChanges] `json:"escalate,omitempty" doc:"Channels that are notified if the alert is not acknowledged in time. null if none"`
	Enabled       api.Member[bool]            `json:"enabled,omitempty" nullable:"false" example:"true" doc:"Whether the rule is active. Default of a new rule: true"`
	Private       api.Member[bool]            `json:"private,omitempty" nullable:"false" example:"false" doc:"Whether only the owner and admins see the rule. A private rule can use private channels of its owner and also sends events of the owner's private items. Default of a new rule: false. Only the owner and admins can change it"`
}

type quietChanges struct {
	From     api.Member[string] `json:"from,omitempty" nullable:"false" example:"22:00" doc:"Start in local time"`
	To       api.Member[string] `json:"to,omitempty" nullable:"false" example:"07:00" doc:"End in local time. If before from, quiet hours end on the next day"`
	TimeZone api.Member[string] `json:"time_zone,omitempty" example:"Europe/Berlin" doc:"IANA time zone of from and to. null uses UTC"`
}

type escalateChanges struct {
	AfterMinutes api.Member[int]      `json:"after_minutes,omitempty" nullable:"false" minimum:"1" maximum:"10080" example:"30" doc:"Minutes without acknowledgement before the channels are notified"`
	Channels     api.Member[[]string] `json:"channels,omitempty" nullable:"false" maxItems:"500" example:"[\"a_01HZ8QK3V5W7X9YABCDEFG\"]" doc:"Ids of the channels that are notified, 1 to 500"`
}

// check refuses null for members that cannot be null, and incomplete quiet hours or escalation, which would count as none. before is the
// stored rule.
func (s AlertRuleSettings) check(before alerts.Rule) error {
	quiet, escalate := s.Quiet.Value, s.Escalate.Value
	errs := []error{s.ScopeSettings.check()}
	if s.Enabled.Null {
		errs = append(errs, models.Invalid("enabled", "must be true or false"))
	}
	if s.Private.Null {
		errs = append(errs, models.Invalid("private", "must be true or false"))
	}
	if quiet.From.Given && quiet.From.Value == "" || s.Quiet.Given && !s.Quiet.Null && !quiet.From.Given && before.Quiet.From == "" {
		errs = append(errs, models.Invalid("quiet.from", "must be a time such as 22:00"))
	}
	if quiet.To.Given && quiet.To.Value == "" {
		errs = append(errs, models.Invalid("quiet.to", "must be a time such as 07:00"))
	}
	if escalate.AfterMinutes.Null || s.Escalate.Given && !s.Escalate.Null && !escalate.AfterMinutes.Given && before.EscalateAfterMinutes == 0 {
		errs = append(errs, models.Invalid("escalate.after_minutes", "must be a whole number from 1 to 10080"))
	}
	return models.Invalids(errs...)
}

// apply sets the members that were sent.
func (s AlertRuleSettings) apply(r *alerts.Rule) {
	s.Name.Set(&r.Name)
	s.ScopeSettings.apply(&r.Scope)
	s.AfterFailures.Set(&r.AfterFailures)
	if s.AfterFailures.Null {
		r.AfterFailures = 1
	}
	s.AfterMinutes.Set(&r.AfterMinutes)
	s.GroupWait.Set(&r.GroupWaitSeconds)
	s.RepeatMinutes.Set(&r.RepeatMinutes)
	if s.Quiet.Null {
		r.Quiet = alerts.Quiet{}
	}
	s.Quiet.Value.From.Set(&r.Quiet.From)
	s.Quiet.Value.To.Set(&r.Quiet.To)
	s.Quiet.Value.TimeZone.Set(&r.Quiet.TimeZone)
	if s.Escalate.Null {
		r.EscalateAfterMinutes, r.EscalateChannels = 0, nil
	}
	s.Escalate.Value.AfterMinutes.Set(&r.EscalateAfterMinutes)
	setList(s.Escalate.Value.Channels, &r.EscalateChannels)
	s.Enabled.Set(&r.Enabled)
	if s.Private.Given {
		r.SetPrivate(s.Private.Value)
	}
}

type addRuleInput struct {
	Body struct {
		Events   []string `json:"events" nullable:"false" minItems:"1" maxItems:"500" example:"[\"target.down\"]" doc:"Event kinds that the rule sends. GET /v1/alert-events lists them"`
		Channels []string `json:"channels" nullable:"false" minItems:"1" maxItems:"500" example:"[\"a_01HZ8QK3V5W7X9YABCDEFG\"]" doc:"Ids of the channels that receive alerts"`
		AlertRuleSettings
	}
}

type addRuleOutput struct {
	Location string `header:"Location" doc:"Path of the alert rule in this API"`
	Body     AlertRule
}

func (a API) addRule(ctx context.Context, in *addRuleInput) (*addRuleOutput, error) {
	b, r := in.Body, alerts.Rule{Events: in.Body.Events, Channels: in.Body.Channels, AfterFailures: 1, Enabled: true, Owner: models.Owner(ctx)}
	if err := b.check(r); err != nil {
		return nil, err
	}
	b.apply(&r)
	r, err := a.Alerts.AddRule(ctx, r)
	if err != nil {
		return nil, err
	}
	return &addRuleOutput{"/v1/alert-rules/" + r.ID, toRule(r)}, nil
}

func (a API) getRule(ctx context.Context, in *AlertRulePath) (*api.Output[AlertRule], error) {
	r, err := a.Alerts.Rule(ctx, in.ID)
	return api.Answer(toRule(r), err)
}

type editRuleInput struct {
	AlertRulePath
	Body struct {
		Events   api.Member[[]string] `json:"events,omitempty" nullable:"false" minItems:"1" maxItems:"500" example:"[\"target.down\"]" doc:"Event kinds that the rule sends. GET /v1/alert-events lists them"`
		Channels api.Member[[]string] `json:"channels,omitempty" nullable:"false" minItems:"1" maxItems:"500" example:"[\"a_01HZ8QK3V5W7X9YABCDEFG\"]" doc:"Ids of the channels that receive alerts"`
		AlertRuleSettings
	}
}

func (a API) editRule(ctx context.Context, in *editRuleInput) (*api.Output[AlertRule], error) {
	b := in.Body
	before, err := a.Alerts.Rule(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if err := b.check(before); err != nil {
		return nil, err
	}
	r, err := a.Alerts.EditRule(ctx, in.ID, func(r *alerts.Rule) {
		setList(b.Events, &r.Events)
		setList(b.Channels, &r.Channels)
		b.apply(r)
	})
	return api.Answer(toRule(r), err)
}

func (a API) deleteRule(ctx context.Context, in *AlertRulePath) (*struct{}, error) {
	return nil, a.Alerts.DeleteRule(ctx, in.ID)
}

func (a API) restoreRule(ctx context.Context, in *AlertRulePath) (*api.Output[AlertRule], error) {
	r, err := a.Alerts.RestoreRule(ctx, in.ID)
	return api.Answer(toRule(r), err)
}
