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
	api.Register(r, api.Sorts(api.Operation(groupSubmissions, middleware.Viewer, "GET", "/v1/websites/{id}/submissions", "list-submissions", "List submissions",
		"Newest first. Submissions are kept for 90 days.", models.CodeNotFound), "created_at"), a.listSubmissions)
}

// Submission is one request to a search engine in the API.
type Submission struct {
	ID         string     `json:"id" example:"n_01HZ8QK3V5W7X9YABCDEFG" doc:"ID of the submission. IDs sort by creation time"`
	WebsiteID  string     `json:"website_id" example:"w_01HZ8QK3V5W7X9YABCDEFG" doc:"ID of the website"`
	PageID     *string    `json:"page_id" example:"p_01HZ8QK3V5W7X9YABCDEFG" doc:"ID of the page. null for a batch, a sitemap, or a page deleted since"`
	URL        *string    `json:"url" example:"https://example.com/about" doc:"URL of the page or sitemap. null for a batch"`
	Method     string     `json:"method" enum:"indexing_api,sitemap,indexnow" example:"indexing_api" doc:"indexing_api: a page, through Google's Indexing API. sitemap: a sitemap, through Google's Search Console API. indexnow: a batch of pages, through IndexNow"`
	Action     string     `json:"action" enum:"updated,deleted" example:"updated" doc:"Notification sent: updated or deleted"`
	Pages      int        `json:"pages" example:"1" doc:"Number of pages"`
	Status     string     `json:"status" enum:"sent,accepted,refused,failed" example:"accepted" doc:"Status. sent: no response yet, or the response was lost. refused: not retried. failed: retried"`
	StatusCode *int       `json:"status_code" example:"200" doc:"HTTP status code of the response. null if there is none"`
	Error      *string    `json:"error" example:"status 403" doc:"Why the submission failed. null if accepted or without a response"`
	CreatedAt  time.Time  `json:"created_at" example:"2025-03-24T12:10:00Z" doc:"When the request was sent"`
	AnsweredAt *time.Time `json:"answered_at" example:"2025-03-24T12:10:01Z" doc:"When the response arrived. null if there is none"`
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
	Status string `query:"status" enum:"sent,accepted,refused,failed" example:"failed" doc:"Only submissions with this status"`
	PageID string `query:"page_id" example:"p_01HZ8QK3V5W7X9YABCDEFG" doc:"Only submissions of the page with this ID"`
}

func (a API) listSubmissions(ctx context.Context, in *listSubmissionsInput) (*api.Output[api.Slice[Submission]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	l, err := a.Sites.Submissions(ctx, in.ID, sites.SubmissionFilter{PageID: in.PageID, Status: sites.SubmissionStatus(in.Status)}, after, limit)
	return api.AnswerSlice(l, toSubmission, err)
}
