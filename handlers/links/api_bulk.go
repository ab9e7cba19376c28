package links

import (
	"context"
	"time"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/links"
)

func (a API) registerBulk(r *api.API) {
	api.Register(r, api.Operation(groupBulk, middleware.Editor, "POST", "/v1/links/bulk", "change-links", "Change many links at once",
		"Ids of links that do not exist or that you cannot see are ignored. The actions delete, expire, revive and tag can be undone with "+
			"POST /v1/changes/{id}/undo. The action refresh runs in the background: GET /v1/refreshes/{id} returns its progress.", models.CodeTooManyTags), a.bulk)
	api.Register(r, api.Operation(groupBulk, middleware.Editor, "POST", "/v1/changes/{id}/undo", "undo-change", "Undo a bulk change",
		"A change can be undone once, within a day, by the user who made it and by admins. Links that you can no longer see stay as they are.", models.CodeNotFound), a.undo)
	api.Register(r, api.Item(api.Operation(groupBulk, middleware.Viewer, "GET", "/v1/refreshes/{id}", "get-refresh", "Get the progress of a bulk refresh",
		"404 if another user requested the refresh and you are not an admin.", models.CodeNotFound), "id"), a.refresh)
}

// Change is a change of one or more links.
type Change struct {
	ID        *string   `json:"id" example:"u_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the change, or of the refresh. null if no link was changed"`
	Action    string    `json:"action" enum:"delete,expire,revive,tag,refresh" example:"expire" doc:"Action"`
	Links     int       `json:"links" example:"3" doc:"Number of links changed, or restored by undo"`
	CreatedAt time.Time `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"When the change was made"`
}

func toChange(c links.Change) Change {
	return Change{ID: api.OrNull(c.ID), Action: c.Action, Links: c.Links, CreatedAt: c.CreatedAt.Time}
}

type bulkInput struct {
	Body struct {
		IDs    []string `json:"ids" nullable:"false" example:"[\"l_01HZ8QK3V5W7X9YABCDEFG\"]" doc:"Ids of at most 500 links"`
		Action string   `json:"action" enum:"delete,expire,revive,tag,refresh" example:"tag" doc:"Action"`
		Tags   []string `json:"tags,omitempty" nullable:"false" example:"[\"Go\"]" doc:"Tags to add. Required for the action tag"`
	}
}

func (a API) bulk(ctx context.Context, in *bulkInput) (*api.Output[Change], error) {
	c, err := a.Links.Bulk(ctx, in.Body.Action, in.Body.Tags, in.Body.IDs...)
	return api.Answer(toChange(c), err)
}

type changeID struct {
	ID string `path:"id" example:"u_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the change"`
}

func (a API) undo(ctx context.Context, in *changeID) (*api.Output[Change], error) {
	c, err := a.Links.Undo(ctx, in.ID)
	return api.Answer(toChange(c), err)
}

// Refresh is the progress of a bulk refresh.
type Refresh struct {
	ID        string    `json:"id" example:"b_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the refresh"`
	Total     int       `json:"total" example:"40" doc:"Number of links to refresh"`
	Done      int       `json:"done" example:"12" doc:"Number of links processed, including failures"`
	Failed    int       `json:"failed" example:"1" doc:"Number of links that could not be fetched"`
	Finished  bool      `json:"finished" doc:"Whether all links have been processed"`
	CreatedAt time.Time `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"When the refresh was requested"`
}

type refreshID struct {
	ID string `path:"id" example:"b_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the refresh"`
}

func (a API) refresh(ctx context.Context, in *refreshID) (*api.Output[Refresh], error) {
	r, err := a.Links.RefreshOf(ctx, in.ID)
	return api.Answer(Refresh{
		ID: r.ID, Total: r.Total, Done: r.Done, Failed: r.Failed, Finished: r.Finished(), CreatedAt: r.CreatedAt.Time,
	}, err)
}
