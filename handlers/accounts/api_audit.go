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
	api.Register(r, api.Sorts(api.Operation(groupAudit, middleware.Admin, "GET", "/v1/audit", "list-audit-entries", "List audit entries",
		"Newest first. Identical refused attempts within 5 seconds are one entry."), "at"), a.listAudit)
}

// AuditParams filter the audit log.
type AuditParams struct {
	Actor     string    `query:"actor" example:"alice" doc:"Only entries of this user"`
	Action    string    `query:"action" example:"target.edit" doc:"Only this action. With a trailing dot, all actions that start with it: target."`
	SubjectID string    `query:"subject_id" example:"t_01HZ8QK3V5W7X9YABCDEFG" doc:"Only entries about the item with this id"`
	Address   string    `query:"address" example:"203.0.113.7" doc:"Only entries from this client address"`
	Since     time.Time `query:"since" example:"2025-03-24T12:00:00Z" doc:"Only at or after this time"`
	Until     time.Time `query:"until" example:"2025-03-25T12:00:00Z" doc:"Only before this time"`
	api.SliceParams
}

// AuditEntry is an action or a refused attempt.
type AuditEntry struct {
	ID        string        `json:"id" example:"q_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the entry"`
	At        time.Time     `json:"at" example:"2025-03-24T12:00:00Z" doc:"Time of the action"`
	Actor     AuditActor    `json:"actor" doc:"Who performed the action"`
	Address   *string       `json:"address" example:"203.0.113.7" doc:"IP address of the client. null for commands"`
	RequestID *string       `json:"request_id" doc:"X-Request-Id of the request, as in the log. null for commands"`
	Action    string        `json:"action" example:"target.edit" doc:"Action"`
	Subject   *AuditSubject `json:"subject" doc:"Item of the action. null if there is none"`
	Before    AuditValues   `json:"before" doc:"Changed members before the action. null if none"`
	After     AuditValues   `json:"after" doc:"Changed members after the action. null if none"`
	Attempts  int           `json:"attempts" example:"1" doc:"Number of attempts in this entry"`
}

// AuditValues are members of an item, by name.
type AuditValues map[string]any

// Schema implements huma.SchemaProvider: an object or null.
func (AuditValues) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Nullable: true}
}

// AuditActor is who performed an action.
type AuditActor struct {
	ID         *string `json:"id" example:"u_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the account. null if none"`
	Name       string  `json:"name" example:"alice" doc:"Username, or the username that was tried"`
	Via        *string `json:"via" example:"session" doc:"Kind of credential: session, token, jwt, password, proxy, oidc, cli or link. null if no login was required"`
	Credential *string `json:"credential" example:"s_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the session or token. null if none"`
}

// AuditSubject is the item of an action.
type AuditSubject struct {
	_ struct{} `nullable:"true"` // an entry may have no item

	Kind string  `json:"kind" example:"target" doc:"Kind of the item"`
	ID   *string `json:"id" example:"t_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the item. null if none"`
	Name *string `json:"name" example:"Shop" doc:"Name of the item at that time. null if none"`
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

// values decodes the values of an entry; nil if there are none.
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
		Actor: in.Actor, Action: in.Action, SubjectID: in.SubjectID, Address: in.Address, Since: models.At(in.Since), Until: models.At(in.Until),
	}, after, limit)
	if err == nil {
		a.Accounts.ReadAudit(ctx)
	}
	return api.AnswerSlice(l, toEntry, err)
}
