package sites

import (
	"context"
	"net/http"
	"time"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/sites"
)

func (a API) registerPages(r *api.API) {
	api.Register(r, api.SortsOnly(api.Operation(groupPages, middleware.Viewer, "GET", "/v1/websites/{id}/pages", "list-website-pages", "List pages",
		"Queue order: highest priority first, then oldest first. Pages that are gone are sorted by age only.", models.CodeNotFound), "priority", models.Descending), a.listPages)
	api.Register(r, api.Item(api.Operation(groupPages, middleware.Viewer, "GET", "/v1/pages/{id}", "get-website-page", "Get a page", "Includes the index status reported by Google.", models.CodeNotFound),
		"id", "url", "manual_priority"), a.getPage)
	api.Register(r, api.Operation(groupPages, middleware.Editor, "PATCH", "/v1/pages/{id}", "edit-website-page", "Set the priority of a page",
		"Omitted members are not changed. null resets the priority to the automatic one.", models.CodeNotFound), a.editPage)
	submit := api.Operation(groupPages, middleware.Editor, "POST", "/v1/pages/{id}/submit", "submit-website-page", "Submit a page",
		"Requests a submission ahead of the queue, within the quotas. The call does not wait for it: see GET /v1/websites/{id}/submissions for the result. "+
			"409 if the website has neither Google credentials nor an IndexNow key, or if the action is not available for the page.",
		models.CodeNotFound, models.CodeConflict)
	submit.DefaultStatus = http.StatusAccepted
	api.Register(r, submit, a.submitPage)
	verify := api.Operation(groupPages, middleware.Editor, "POST", "/v1/pages/{id}/verify", "verify-website-page", "Verify a page",
		"Requests a check with Google whether the page is indexed, ahead of other pages, within the quotas. The call does not wait for it. 409 if the website has no Google credentials.",
		models.CodeNotFound, models.CodeConflict)
	verify.DefaultStatus = http.StatusAccepted
	api.Register(r, verify, a.verifyPage)
}

// PagePath is the path parameter of a page.
type PagePath struct {
	ID string `path:"id" example:"p_01HZ8QK3V5W7X9YABCDEFG" doc:"ID of the page"`
}

// Page is a page of a website in the API.
type Page struct {
	ID                string     `json:"id" example:"p_01HZ8QK3V5W7X9YABCDEFG" doc:"ID of the page. IDs sort by creation time"`
	WebsiteID         string     `json:"website_id" example:"w_01HZ8QK3V5W7X9YABCDEFG" doc:"ID of the website"`
	URL               string     `json:"url" example:"https://example.com/about" doc:"URL of the page"`
	Lastmod           *time.Time `json:"lastmod" example:"2025-03-24T12:00:00Z" doc:"Last modification, as given by the sitemap. null if not given"`
	AutoPriority      int        `json:"auto_priority" minimum:"10" maximum:"100" example:"85" doc:"Automatic priority. It falls with the age of lastmod"`
	ManualPriority    *int       `json:"manual_priority" minimum:"1" maximum:"100" example:"100" doc:"Manual priority. null if not set"`
	Priority          int        `json:"priority" minimum:"1" maximum:"100" example:"100" doc:"Effective priority: manual_priority if set, else auto_priority"`
	PriorityReason    string     `json:"priority_reason" example:"Modified 2 days ago" doc:"Reason for the priority"`
	Status            string     `json:"status" enum:"pending,submitted,indexed,not_indexed,failed" example:"indexed" doc:"Status, by coverage_state if it is known. submitted: Google has not reported since the last submission whether it is indexed"`
	Cause             *string    `json:"cause" example:"crawled_not_indexed" doc:"Why the page failed or is not indexed, or a threat to an indexed page. null if there is no cause"`
	CoverageState     *string    `json:"coverage_state" example:"Submitted and indexed" doc:"Coverage state, as reported by Google. null if unknown"`
	Verdict           *string    `json:"verdict" example:"PASS" doc:"Verdict of Google's URL inspection: PASS, PARTIAL, FAIL or NEUTRAL. null if unknown. It counts for the status only if coverage_state is unknown and it is PASS"`
	RobotsState       *string    `json:"robots_state" example:"ALLOWED" doc:"Whether robots.txt allows Google to crawl the page. null if unknown"`
	IndexingState     *string    `json:"indexing_state" example:"INDEXING_ALLOWED" doc:"Whether the page allows indexing, as reported by Google. null if unknown"`
	FetchState        *string    `json:"fetch_state" example:"SUCCESSFUL" doc:"Whether Google could fetch the page. null if unknown"`
	GoogleCanonical   *string    `json:"google_canonical" example:"https://example.com/about" doc:"Canonical URL chosen by Google. null if unknown"`
	UserCanonical     *string    `json:"user_canonical" example:"https://example.com/about" doc:"Canonical URL declared by the page. null if unknown"`
	OtherCanonical    bool       `json:"other_canonical" example:"false" doc:"Whether Google chose another page as canonical"`
	LastCrawledAt     *time.Time `json:"last_crawled_at" example:"2025-03-25T12:00:00Z" doc:"Last crawl by Google. null if unknown"`
	CreatedAt         time.Time  `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"When the page was first found in a sitemap"`
	LastSubmittedAt   *time.Time `json:"last_submitted_at" example:"2025-03-24T12:10:00Z" doc:"When a search engine last accepted a submission. null if never"`
	LastVerifiedAt    *time.Time `json:"last_verified_at" example:"2025-03-25T12:10:00Z" doc:"When Google last reported the index status. null if never"`
	NotifiedAt        *time.Time `json:"notified_at" example:"2025-03-24T12:10:00Z" doc:"Latest notification received by the Indexing API, as reported by Google. null if unknown"`
	LastError         *string    `json:"last_error" example:"status 429" doc:"Why the last submission or verification failed. null if it succeeded"`
	Queued            bool       `json:"queued" example:"true" doc:"Whether the page is queued for submission"`
	SubmitRequestedAt *time.Time `json:"submit_requested_at" doc:"When a submission was requested that is still open. null if none is"`
	VerifyRequestedAt *time.Time `json:"verify_requested_at" doc:"When a verification was requested that is still open. null if none is"`
	GoneAt            *time.Time `json:"gone_at" doc:"When the page left the last sitemap that listed it. null if a sitemap lists it"`
}

func (a API) toPage(p sites.Page) Page {
	reason := "Set manually"
	if p.ManualPriority == nil {
		reason = sites.WhyPriority(p.Lastmod, a.Sites.Now())
	}
	return Page{
		ID: p.ID(), WebsiteID: p.WebsiteID, URL: p.URL, Lastmod: api.Time(p.Lastmod), AutoPriority: p.AutoPriority, ManualPriority: p.ManualPriority,
		Priority: p.Priority(), PriorityReason: reason, Status: string(p.Status), Cause: api.OrNull(p.Cause),
		CoverageState: api.OrNull(p.CoverageState), Verdict: api.OrNull(p.Verdict), RobotsState: api.OrNull(p.RobotsState), IndexingState: api.OrNull(p.IndexingState),
		FetchState: api.OrNull(p.FetchState), GoogleCanonical: api.OrNull(p.GoogleCanonical), UserCanonical: api.OrNull(p.UserCanonical),
		OtherCanonical: p.OtherCanonical(p.URL), LastCrawledAt: api.Time(p.LastCrawledAt), CreatedAt: p.CreatedAt.Time, LastSubmittedAt: api.Time(p.LastSubmittedAt),
		LastVerifiedAt: api.Time(p.LastVerifiedAt), NotifiedAt: api.Time(p.NotifiedAt), LastError: api.OrNull(p.LastError), Queued: p.Queued(),
		SubmitRequestedAt: api.Time(p.SubmitRequestedAt), VerifyRequestedAt: api.Time(p.VerifyRequestedAt), GoneAt: api.Time(p.GoneAt),
	}
}

func (a API) answerPage(p sites.Page, err error) (*api.Output[Page], error) {
	if err != nil {
		return nil, err
	}
	return &api.Output[Page]{Body: a.toPage(p)}, nil
}

type listPagesInput struct {
	WebsitePath
	api.SliceParams
	Status string `query:"status" enum:"pending,submitted,indexed,not_indexed,failed" example:"not_indexed" doc:"Only pages with this status"`
	Queued bool   `query:"queued" example:"true" doc:"true returns only pages queued for Google, or for IndexNow if the website has no Google credentials"`
	Cause  string `query:"cause" example:"crawled_not_indexed" doc:"Only pages with exactly this cause. At most 512 bytes"`
	Gone   bool   `query:"gone" example:"true" doc:"true returns the pages that no sitemap lists any more, instead of the others"`
	Match  string `query:"q" example:"/blog/*" doc:"Pattern of the path if it starts with /, else a part of the URL. Case-insensitive. * matches any text. At most 512 bytes"`
}

func (a API) listPages(ctx context.Context, in *listPagesInput) (*api.Output[api.Slice[Page]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	l, err := a.Sites.Pages(ctx, in.ID, sites.Filter{Status: sites.Status(in.Status), Queued: in.Queued, Cause: in.Cause, Gone: in.Gone, Match: in.Match}, after, limit)
	return api.AnswerSlice(l, a.toPage, err)
}

func (a API) getPage(ctx context.Context, in *PagePath) (*api.Output[Page], error) {
	return a.answerPage(a.Sites.Page(ctx, in.ID))
}

type editPageInput struct {
	PagePath
	Body struct {
		ManualPriority api.Member[int] `json:"manual_priority,omitempty" minimum:"1" maximum:"100" example:"100" doc:"Manual priority. null resets it"`
	}
}

func (a API) editPage(ctx context.Context, in *editPageInput) (*api.Output[Page], error) {
	if !in.Body.ManualPriority.Given {
		return a.getPage(ctx, &in.PagePath)
	}
	return a.answerPage(a.Sites.SetPriority(ctx, in.ID, priorityOf(in.Body.ManualPriority)))
}

// priorityOf returns the manual priority of a given member; nil = none.
func priorityOf(m api.Member[int]) *int {
	if m.Null {
		return nil
	}
	return &m.Value
}

type submitPageInput struct {
	PagePath
	Body *struct {
		Action string `json:"action,omitempty" enum:"updated,deleted" example:"updated" doc:"Notification to send: updated, or deleted if the page was removed. Default: updated"`
	}
}

func (a API) submitPage(ctx context.Context, in *submitPageInput) (*api.Output[Page], error) {
	removal := in.Body != nil && in.Body.Action == string(sites.Deleted)
	return a.answerPage(a.Sites.RequestSubmission(ctx, in.ID, removal))
}

func (a API) verifyPage(ctx context.Context, in *PagePath) (*api.Output[Page], error) {
	return a.answerPage(a.Sites.RequestVerification(ctx, in.ID))
}
