package accounts

import (
	"context"
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/models/audit"
)

func (a API) registerAudit(r *api.API) {
	api.Register(r, api.Operation(groupAudit, middleware.Admin, "GET", "/v1/audit", "list-audit-entries", "List the audit log",
		"Newest first. Attempts that were refused are counted together for some seconds."), a.listAudit)
}

// AuditParams ask for a part of the audit log.
type AuditParams struct {
	Actor     string    `query:"actor" example:"alice" doc:"Only what this user did"`
	Action    string    `query:"action" example:"target.edit" doc:"Only this action, or with a dot at its end all actions that begin with it: target."`
	SubjectID string    `query:"subject_id" example:"t_01HZ8QK3V5W7X9YABCDEFG" doc:"Only what was done to the thing with this id"`
	Address   string    `query:"address" example:"203.0.113.7" doc:"Only what was done from this address"`
	Since     time.Time `query:"since" example:"2025-03-24T12:00:00Z" doc:"Only from this time on"`
	Until     time.Time `query:"until" example:"2025-03-25T12:00:00Z" doc:"Only before this time"`
	api.SliceParams
}

// AuditEntry is something that was done, or tried.
type AuditEntry struct {
	ID        string        `json:"id" example:"q_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the entry"`
	At        time.Time     `json:"at" example:"2025-03-24T12:00:00Z" doc:"When it was done"`
	Actor     AuditActor    `json:"actor" doc:"Who did it"`
	Address   *string       `json:"address" example:"203.0.113.7" doc:"Address of the client. null if there was none"`
	RequestID *string       `json:"request_id" doc:"X-Request-Id of the request, which the log has too. null if there was none"`
	Action    string        `json:"action" example:"target.edit" doc:"What was done"`
	Subject   *AuditSubject `json:"subject" doc:"What it was done to. null if there is no one thing"`
	Before    AuditValues   `json:"before" doc:"Members that the change replaced. null if there were none"`
	After     AuditValues   `json:"after" doc:"Members that the change set. null if there are none"`
	Attempts  int           `json:"attempts" example:"1" doc:"Number of attempts that the entry counts together"`
}

// AuditValues are members of a thing as they were or are, by their names.
type AuditValues map[string]any

// Schema is that of an object or null.
func (AuditValues) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Nullable: true}
}

// AuditActor is who did something.
type AuditActor struct {
	ID         *string `json:"id" example:"u_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the account. null if there is none"`
	Name       string  `json:"name" example:"alice" doc:"Username, or what was sent as one"`
	Via        *string `json:"via" example:"session" doc:"Kind of the credential: session, token, jwt, password, proxy, oidc, cli or link. null: nobody had to sign in"`
	Credential *string `json:"credential" example:"s_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the session or token. null if there is none"`
}

// AuditSubject is what something was done to.
type AuditSubject struct {
	_ struct{} `nullable:"true"` // an entry may be about no one thing

	Kind string  `json:"kind" example:"target" doc:"Kind"`
	ID   *string `json:"id" example:"t_01HZ8QK3V5W7X9YABCDEFG" doc:"Id. null if it has none"`
	Name *string `json:"name" example:"Shop" doc:"Name at that time. null if it has none"`
}

func toEntry(e audit.Entry) AuditEntry {
	out := AuditEntry{
		ID: accounts.EntryID(e), At: e.At.Time, Address: api.OrNull(e.Address), RequestID: api.OrNull(e.RequestID), Action: e.Action, Attempts: e.Attempts,
		Actor:  AuditActor{ID: api.OrNull(e.ActorID), Name: e.Actor, Via: api.OrNull(e.Via), Credential: api.OrNull(e.Credential)},
		Before: values(e.Before), After: values(e.After),
	}
	if e.SubjectKind != "" {
		out.Subject = &AuditSubject{Kind: e.SubjectKind, ID: api.OrNull(e.SubjectID), Name: api.OrNull(e.SubjectName)}
	}
	return out
}

// values are the values of an entry; nil if there are none.
func values(text string) (v AuditValues) {
	if text == "" || json.Unmarshal([]byte(text), &v) != nil {
		return nil
	}
	return v
}

func (a API) listAudit(ctx context.Context, in *AuditParams) (*api.Output[api.Slice[AuditEntry]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	l, err := a.Accounts.Audit(ctx, accounts.AuditFilter{
		Actor: in.Actor, Action: in.Action, Subject: in.SubjectID, Address: in.Address, Since: models.At(in.Since), Until: models.At(in.Until),
	}, after, limit)
	return api.AnswerSlice(l, toEntry, err)
}
