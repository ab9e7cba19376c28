package sites

import (
	"context"
	"errors"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/sites"
)

func (a API) registerPriorities(r *api.API) {
	api.Register(r, api.Operation(groupPages, middleware.Editor, "POST", "/v1/websites/{id}/priorities", "set-website-priorities", "Set the priority of many pages",
		"Changes the pages that match status, queued, cause and q, as in GET /v1/websites/{id}/pages. At most 10,000 pages change per call, in queue order. "+
			"POST /v1/websites/{id}/priorities/undo undoes the last call.", models.CodeNotFound), a.setPriorities)
	api.Register(r, api.Operation(groupPages, middleware.Editor, "POST", "/v1/websites/{id}/priorities/undo", "undo-website-priorities", "Undo the last change of priorities",
		"Pages whose priority was edited since are not changed. 409 if there is nothing to undo or the token is not of the last change.",
		models.CodeNotFound, models.CodeConflict), a.undoPriorities)
}

// PriorityChange is the result of a bulk change of priorities in the API.
type PriorityChange struct {
	Changed   int     `json:"changed" example:"120" doc:"Number of changed pages"`
	More      bool    `json:"more" example:"false" doc:"Whether more pages match. Repeat the request to change them"`
	UndoToken *string `json:"undo_token" example:"u_01HZ8QK3V5W7X9YABCDEFG" doc:"Token for undoing the change. null if no page was changed"`
}

type setPrioritiesInput struct {
	WebsitePath
	Body struct {
		ManualPriority api.Member[int] `json:"manual_priority" minimum:"1" maximum:"100" example:"100" doc:"Manual priority. null resets it"`
		Status         string          `json:"status,omitempty" enum:"pending,submitted,indexed,not_indexed,failed" example:"not_indexed" doc:"Only pages with this status"`
		Queued         bool            `json:"queued,omitempty" example:"true" doc:"true selects only queued pages"`
		Cause          string          `json:"cause,omitempty" example:"crawled_not_indexed" doc:"Only pages with exactly this cause. At most 512 bytes"`
		Match          string          `json:"q,omitempty" example:"/blog/*" doc:"Pattern of the path if it starts with /, else a part of the URL. Case-insensitive. * matches any text. At most 512 bytes"`
	}
}

func (a API) setPriorities(ctx context.Context, in *setPrioritiesInput) (*api.Output[PriorityChange], error) {
	b := in.Body
	if err := errors.Join(models.CheckFilter("cause", b.Cause), models.CheckFilter("q", b.Match)); err != nil {
		return nil, err
	}
	done, err := a.Sites.SetPriorities(ctx, in.ID, sites.Filter{Status: sites.Status(b.Status), Queued: b.Queued, Cause: b.Cause, Match: b.Match}, priorityOf(b.ManualPriority))
	if err != nil {
		return nil, err
	}
	return api.Answer(PriorityChange{Changed: done.N, More: done.More, UndoToken: undoToken(done)}, nil)
}

type undoPrioritiesInput struct {
	WebsitePath
	Body struct {
		UndoToken string `json:"undo_token" example:"u_01HZ8QK3V5W7X9YABCDEFG" doc:"undo_token of the last change"`
	}
}

// PriorityUndo is the result of undoing a bulk change in the API.
type PriorityUndo struct {
	Changed int `json:"changed" example:"120" doc:"Number of pages whose priority was restored"`
}

func (a API) undoPriorities(ctx context.Context, in *undoPrioritiesInput) (*api.Output[PriorityUndo], error) {
	at, _, err := models.ParseTimedID(models.KindChange, in.Body.UndoToken)
	if err != nil {
		return nil, models.Invalid("undo_token", "must be the undo_token of a change")
	}
	n, err := a.Sites.UndoPriorities(ctx, in.ID, at)
	if err == nil && n == 0 {
		err = models.Conflict("Could not undo: these priorities have changed since.")
	}
	return api.Answer(PriorityUndo{n}, err)
}
