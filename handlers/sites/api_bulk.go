package sites

import (
	"context"
	"net/http"
	"path"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/sites"
)

func (a API) registerBulk(r *api.API) {
	api.Register(r, api.Operation(groupPages, middleware.Editor, "POST", "/v1/websites/{id}/pages/bulk", "change-website-pages", "Change selected pages",
		"Unknown IDs are ignored. boost sets the priority to 100, reset to the automatic one; POST /v1/websites/{id}/priorities/undo undoes both. "+
			"submit and verify request a submission or verification, as for one page. submit ignores pages that no sitemap lists. 409 if the website lacks the credentials or key for the action.",
		models.CodeNotFound, models.CodeConflict), a.changePages)
	crawl := api.Operation(groupWebsites, middleware.Editor, "POST", "/v1/websites/{id}/crawl", "crawl-website", "Crawl a website",
		"Starts a crawl that also fetches the first 500 pages of the queue. Its results are evidence for the findings of pages. "+
			"409 if the website has no pages, or if its source is disabled.", models.CodeNotFound, models.CodeConflict)
	crawl.DefaultStatus = http.StatusAccepted
	api.Register(r, crawl, a.crawlWebsite)
}

type changePagesInput struct {
	WebsitePath
	Body struct {
		IDs    []string `json:"ids" nullable:"false" minItems:"1" maxItems:"500" example:"[\"p_01HZ8QK3V5W7X9YABCDEFG\"]" doc:"IDs of pages of the website, at most 500"`
		Action string   `json:"action" enum:"boost,reset,submit,verify" example:"boost" doc:"What to do"`
	}
}

func (a API) changePages(ctx context.Context, in *changePagesInput) (*api.Output[ChangedPages], error) {
	var n int
	var err error
	switch b := in.Body; b.Action {
	case actionSubmit:
		n, err = a.Sites.RequestSubmissions(ctx, in.ID, b.IDs...)
	case actionVerify:
		n, err = a.Sites.RequestVerifications(ctx, in.ID, b.IDs...)
	default:
		done, err := a.Sites.SetPrioritiesByID(ctx, in.ID, actionPriority(b.Action), b.IDs...)
		return api.Answer(ChangedPages{done.N, undoToken(done)}, err)
	}
	return api.Answer(ChangedPages{Changed: n}, err)
}

// ChangedPages is the result of an action on selected pages in the API.
type ChangedPages struct {
	Changed   int     `json:"changed" example:"3" doc:"Number of pages whose priority was changed, or for which a request was made"`
	UndoToken *string `json:"undo_token" example:"u_01HZ8QK3V5W7X9YABCDEFG" doc:"Token for undoing a change of priorities. null for other actions, or if no page was changed"`
}

// undoToken returns the token for undoing a change of priorities; nil = nothing was changed.
func undoToken(b sites.Boost) *string {
	if b.N == 0 {
		return nil
	}
	return api.OrNull(models.TimedID(models.KindChange, b.At, int64(b.N)))
}

// WebsiteCrawl is a started crawl of a website in the API.
type WebsiteCrawl struct {
	JobID string `json:"job_id" example:"j_01HZ8QK3V5W7X9YABCDEFG" doc:"ID of the job: see GET /v1/jobs/{id}"`
}

func (a API) crawlWebsite(ctx context.Context, in *WebsitePath) (*api.Output[WebsiteCrawl], error) {
	page, err := a.crawl(ctx, in.ID)
	if err == nil && page == "" {
		err = models.Conflict("No pages to crawl. Add a sitemap with pages first.")
	}
	return api.Answer(WebsiteCrawl{path.Base(page)}, err)
}
