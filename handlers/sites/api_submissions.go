package sites

import (
	"context"
	"time"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/sites"
)

func (a API) registerSubmissions(r *api.API) {
	api.Register(r, api.Operation(groupSubmissions, middleware.Viewer, "GET", "/v1/websites/{id}/submissions", "list-submissions", "List submissions",
		"Newest first. Submissions are kept for 90 days.", models.CodeNotFound), a.listSubmissions)
}

// Submission is one request to a search engine on the wire.
type Submission struct {
	ID         string     `json:"id" example:"n_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the submission. Ids sort by creation time"`
	WebsiteID  string     `json:"website_id" example:"w_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the website"`
	PageID     *string    `json:"page_id" example:"p_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the page. null for many pages, for a sitemap, and for a page that was deleted since"`
	URL        *string    `json:"url" example:"https://example.com/about" doc:"URL of the page or the sitemap. null for many pages"`
	Method     string     `json:"method" enum:"indexing_api,sitemap,indexnow" example:"indexing_api" doc:"How it was submitted: a page by Google's Indexing API, a sitemap by Google's Search Console API, or pages by IndexNow"`
	Action     string     `json:"action" enum:"updated,deleted" example:"updated" doc:"What the search engine was told"`
	Pages      int        `json:"pages" example:"1" doc:"Number of pages"`
	Status     string     `json:"status" enum:"sent,accepted,refused,failed" example:"accepted" doc:"Status. sent: there is no answer yet, or it was lost. refused: it is not tried again as it is. failed: it is tried again"`
	StatusCode *int       `json:"status_code" example:"200" doc:"HTTP status of the answer. null if there is no answer"`
	Error      *string    `json:"error" example:"status 403" doc:"Why it was not accepted. null if it was, or if there is no answer yet"`
	CreatedAt  time.Time  `json:"created_at" example:"2025-03-24T12:10:00Z" doc:"When it was sent"`
	AnsweredAt *time.Time `json:"answered_at" example:"2025-03-24T12:10:01Z" doc:"When it was answered. null if it was not"`
}

func toSubmission(s sites.Submission) Submission {
	return Submission{
		ID: s.ID(), WebsiteID: s.WebsiteID, PageID: api.OrNull(s.PageID()), URL: api.OrNull(s.URL), Method: string(s.Method), Action: string(s.Action), Pages: s.Pages,
		Status: string(s.Status), StatusCode: api.OrNull(s.StatusCode), Error: api.OrNull(s.Error), CreatedAt: s.CreatedAt.Time, AnsweredAt: api.Time(s.AnsweredAt),
	}
}

type listSubmissionsInput struct {
	WebsitePath
	api.SliceParams
	PageID string `query:"page_id" example:"p_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of a page, for the submissions of this page alone"`
}

func (a API) listSubmissions(ctx context.Context, in *listSubmissionsInput) (*api.Output[api.Slice[Submission]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	l, err := a.Sites.Submissions(ctx, in.ID, in.PageID, after, limit)
	return api.AnswerSlice(l, toSubmission, err)
}
