package alerts

import (
	"context"
	"time"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
)

// maxDeliveries is the maximum number of messages listed for an alert.
const maxDeliveries = 100

func (a API) registerAlerts(r *api.API) {
	api.Register(r, api.Sorts(api.Operation(groupAlerts, middleware.Viewer, "GET", "/v1/alerts", "list-alerts", "List alerts",
		"Newest first. An alert is listed when it is due to be sent. Resolved alerts are kept for 90 days."), "created_at"), a.listAlerts)
	api.Register(r, api.Item(api.Operation(groupAlerts, middleware.Viewer, "GET", "/v1/alerts/{id}", "get-alert", "Get an alert", "Includes its subjects and messages.", models.CodeNotFound),
		"id", "acknowledged_at", "silenced_until"), a.getAlert)
	api.Register(r, api.Operation(groupAlerts, middleware.Editor, "POST", "/v1/alerts/{id}/acknowledge", "acknowledge-alert", "Acknowledge an alert",
		"Stops reminders and escalation until another subject joins the alert. With subjects, only these are acknowledged. 409 if it is resolved.", models.CodeNotFound, models.CodeConflict), a.acknowledgeAlert)
	api.Register(r, api.Operation(groupAlerts, middleware.Editor, "POST", "/v1/alerts/{id}/unacknowledge", "unacknowledge-alert", "Remove an acknowledgement",
		"Reminders and escalation start again. 409 if it is resolved.", models.CodeNotFound, models.CodeConflict), a.unacknowledgeAlert)
	api.Register(r, api.Operation(groupAlerts, middleware.Editor, "POST", "/v1/alerts/{id}/silence", "silence-alert", "Silence an alert",
		"Holds all messages except the recovery, for at most 7 days. 409 if it is resolved.", models.CodeNotFound, models.CodeConflict), a.silenceAlert)
	api.Register(r, api.Operation(groupAlerts, middleware.Viewer, "GET", "/v1/alert-events", "list-alert-events", "List event kinds", "The event kinds that alert rules can send."), a.listEvents)
}

// AlertPath is the path parameter of an alert.
type AlertPath struct {
	ID string `path:"id" example:"v_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the alert"`
}

// notifications converts alerts to their API form with a constant number of queries.
func (a API) notifications(ctx context.Context, as ...alerts.Alert) ([]alerts.Notification, error) {
	subjects, err := a.Alerts.SubjectsOf(ctx, as, alerts.MaxSubjects)
	if err != nil {
		return nil, err
	}
	deliveries, err := a.Alerts.DeliveriesOf(ctx, as, maxDeliveries)
	if err != nil {
		return nil, err
	}
	return api.All(as, func(al alerts.Alert) alerts.Notification {
		return a.Alerts.Notification(al, subjects[al.Seq], deliveries[al.Seq])
	}), nil
}

func (a API) answerAlert(ctx context.Context, al alerts.Alert, err error) (*api.Output[alerts.Notification], error) {
	if err != nil {
		return nil, err
	}
	out, err := a.notifications(ctx, al)
	if err != nil {
		return nil, err
	}
	return &api.Output[alerts.Notification]{Body: out[0]}, nil
}

type listAlertsInput struct {
	api.SliceParams
	State    string    `query:"state" enum:"firing,unacknowledged,resolved" example:"firing" doc:"firing: unresolved alerts. unacknowledged: firing alerts that are not acknowledged. resolved: alerts that have ended. Default: all"`
	Event    string    `query:"event" example:"target.down" doc:"Only alerts of this event. GET /v1/alert-events lists them"`
	Severity string    `query:"severity" enum:"info,warning,critical" example:"critical" doc:"Only alerts of this severity"`
	Subject  string    `query:"subject" example:"t_01HZ8QK3V5W7X9YABCDEFG" doc:"Only alerts with this subject: the id of a target, link, page, …"`
	Since    time.Time `query:"since" example:"2025-03-24T12:00:00Z" doc:"Only alerts that were created at that time or later"`
}

func (in listAlertsInput) filter() (alerts.Filter, error) {
	state, err := alerts.ParseState(in.State)
	f := alerts.Filter{State: state, Event: event.Kind(in.Event), Subject: in.Subject, Since: models.At(in.Since)}
	for _, v := range []event.Severity{event.Info, event.Warning, event.Critical} {
		if v.String() == in.Severity {
			f.Severity = &v
		}
	}
	return f, err
}

func (a API) listAlerts(ctx context.Context, in *listAlertsInput) (*api.Output[api.Slice[alerts.Notification]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	f, err := in.filter()
	if err != nil {
		return nil, err
	}
	l, err := a.Alerts.Filtered(ctx, f, after, limit)
	if err != nil {
		return nil, err
	}
	items, err := a.notifications(ctx, l.Items...)
	return api.AnswerItems(l, items, err)
}

func (a API) getAlert(ctx context.Context, in *AlertPath) (*api.Output[alerts.Notification], error) {
	al, err := a.Alerts.Alert(ctx, in.ID)
	return a.answerAlert(ctx, al, err)
}

type acknowledgeAlertInput struct {
	AlertPath
	Body *struct {
		Subjects []string `json:"subjects,omitempty" nullable:"false" maxItems:"500" example:"[\"t_01HZ8QK3V5W7X9YABCDEFG\"]" doc:"Ids of subjects of the alert. Omitted or empty: all"`
	} `required:"false"`
}

func (a API) acknowledgeAlert(ctx context.Context, in *acknowledgeAlertInput) (*api.Output[alerts.Notification], error) {
	var subjects []string
	if in.Body != nil {
		subjects = in.Body.Subjects
	}
	al, err := a.Alerts.Acknowledge(ctx, in.ID, subjects...)
	return a.answerAlert(ctx, al, err)
}

func (a API) unacknowledgeAlert(ctx context.Context, in *AlertPath) (*api.Output[alerts.Notification], error) {
	al, err := a.Alerts.Unacknowledge(ctx, in.ID)
	return a.answerAlert(ctx, al, err)
}

type silenceAlertInput struct {
	AlertPath
	Body struct {
		Minutes int `json:"minutes" minimum:"0" maximum:"10080" example:"60" doc:"Duration in minutes. 0 ends the silence"`
	}
}

func (a API) silenceAlert(ctx context.Context, in *silenceAlertInput) (*api.Output[alerts.Notification], error) {
	al, err := a.Alerts.Silence(ctx, in.ID, time.Duration(in.Body.Minutes)*time.Minute)
	return a.answerAlert(ctx, al, err)
}

// AlertEvent is an event kind in the API.
type AlertEvent struct {
	Kind     string `json:"kind" example:"target.down" doc:"Kind, as in alert rules and alerts"`
	Label    string `json:"label" example:"Target down" doc:"Display name"`
	Help     string `json:"help" example:"A check of a target failed." doc:"Description in one or two sentences"`
	Severity string `json:"severity" enum:"info,warning,critical" example:"critical" doc:"Default severity. An event can be more or less severe"`
}

func toEvent(t event.Type) AlertEvent {
	return AlertEvent{Kind: string(t.Kind), Label: t.Label, Help: t.Help, Severity: t.Severity.String()}
}

func (a API) listEvents(_ context.Context, in *api.TotalParams) (*api.Output[api.Slice[AlertEvent]], error) {
	return api.AnswerAll(*in, a.Alerts.Types(), toEvent, nil)
}
