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
		"Of all pages that the members status to q list, as GET /v1/websites/{id}/pages does: the first 10,000 of the queue that have another manual priority. "+
			"POST /v1/websites/{id}/priorities/undo undoes the last change.", models.CodeNotFound), a.setPriorities)
	api.Register(r, api.Operation(groupPages, middleware.Editor, "POST", "/v1/websites/{id}/priorities/undo", "undo-website-priorities", "Undo the last change of priorities",
		"Pages whose priority was changed singly since stay as they are. 409 if there is nothing to undo, or if another change came later.",
		models.CodeNotFound, models.CodeConflict), a.undoPriorities)
}

// PriorityChange is a change of the priority of many pages on the wire.
type PriorityChange struct {
	Changed   int     `json:"changed" example:"120" doc:"Number of pages that were changed"`
	More      bool    `json:"more" example:"false" doc:"Whether there are more pages to change. Send the request again to change them"`
	UndoToken *string `json:"undo_token" example:"u_01HZ8QK3V5W7X9YABCDEFG" doc:"Token that undoes the change. null if no page was changed"`
}

type setPrioritiesInput struct {
	WebsitePath
	Body struct {
		ManualPriority api.Member[int] `json:"manual_priority" minimum:"1" maximum:"100" example:"100" doc:"Manual priority. null removes it"`
		Status         string          `json:"status,omitempty" enum:"pending,submitted,indexed,not_indexed,failed" example:"not_indexed" doc:"Status"`
		Queued         bool            `json:"queued,omitempty" example:"true" doc:"true means pages that wait to be submitted"`
		Cause          string          `json:"cause,omitempty" example:"crawled_not_indexed" doc:"Cause, whole. At most 512 bytes"`
		Match          string          `json:"q,omitempty" example:"/blog/*" doc:"Pattern of the path that begins with /, or a part of the URL, ignoring case. * stands for any text. At most 512 bytes"`
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
	out := PriorityChange{Changed: done.N, More: done.More}
	if done.N > 0 {
		out.UndoToken = api.OrNull(models.TimedID(models.KindChange, done.At, int64(done.N)))
	}
	return api.Answer(out, nil)
}

type undoPrioritiesInput struct {
	WebsitePath
	Body struct {
		UndoToken string `json:"undo_token" example:"u_01HZ8QK3V5W7X9YABCDEFG" doc:"Token of the last change"`
	}
}

// PriorityUndo is what undoing a change of priorities did on the wire.
type PriorityUndo struct {
	Changed int `json:"changed" example:"120" doc:"Number of pages that have their priority from before again"`
}

func (a API) undoPriorities(ctx context.Context, in *undoPrioritiesInput) (*api.Output[PriorityUndo], error) {
	at, _, err := models.ParseTimedID(models.KindChange, in.Body.UndoToken)
	if err != nil {
		return nil, models.Invalid("undo_token", "is not a token of a change")
	}
	n, err := a.Sites.UndoPriorities(ctx, in.ID, at)
	if err == nil && n == 0 {
		err = models.Conflict("Could not undo: these priorities have changed since.")
	}
	return api.Answer(PriorityUndo{n}, err)
}
