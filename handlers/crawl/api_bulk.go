package crawl

import (
	"context"

	"linkwatch/handlers/api"
)

// BulkIDs are the ids of a bulk action: at most crawl.MaxBulk.
type BulkIDs struct {
	IDs []string `json:"ids" nullable:"false" maxItems:"100" example:"[\"f_01HZ8QK3V5W7X9YABCDEFG\"]" doc:"Ids, at most 100"`
}

// BulkResult is the result of a bulk action.
type BulkResult struct {
	Action  string `json:"action" example:"delete" doc:"Action"`
	Changed int    `json:"changed" example:"3" doc:"Number of items that were changed"`
}

type bulkEntriesInput struct {
	Body struct {
		BulkIDs
		Action string `json:"action" enum:"retry,delete" example:"retry" doc:"Action"`
	}
}

func (a API) bulkEntries(ctx context.Context, in *bulkEntriesInput) (*api.Output[BulkResult], error) {
	do := a.Crawl.RetryEntries
	if in.Body.Action == actionDelete {
		do = a.Crawl.DeleteEntries
	}
	n, err := do(ctx, in.Body.IDs...)
	return api.Answer(BulkResult{in.Body.Action, n}, err)
}

type bulkDeleteInput struct {
	Body struct {
		BulkIDs
		Action string `json:"action" enum:"delete" example:"delete" doc:"Action"`
	}
}

func (a API) bulkDiscovered(ctx context.Context, in *bulkDeleteInput) (*api.Output[BulkResult], error) {
	d, err := a.Crawl.DeleteDiscoveredLinks(ctx, in.Body.IDs...)
	return api.Answer(BulkResult{in.Body.Action, d.N}, err)
}

func (a API) bulkPages(ctx context.Context, in *bulkDeleteInput) (*api.Output[BulkResult], error) {
	d, err := a.Crawl.DeletePages(ctx, in.Body.IDs...)
	return api.Answer(BulkResult{in.Body.Action, d.N}, err)
}
