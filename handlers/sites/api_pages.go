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
	api.Register(r, api.Operation(groupPages, middleware.Viewer, "GET", "/v1/websites/{id}/pages", "list-website-pages", "List pages",
		"In the order of the queue: the highest priority first, then the oldest. Pages that are gone are listed by age.", models.CodeNotFound), a.listPages)
	api.Register(r, api.Operation(groupPages, middleware.Viewer, "GET", "/v1/pages/{id}", "get-website-page", "Get a page", "With its place in the queue and what Google says of it.", models.CodeNotFound), a.getPage)
	api.Register(r, api.Operation(groupPages, middleware.Editor, "PATCH", "/v1/pages/{id}", "edit-website-page", "Set the priority of a page",
		"A member that is left out stays as it is. null removes the manual priority: the automatic one counts again.", models.CodeNotFound), a.editPage)
	submit := api.Operation(groupPages, middleware.Editor, "POST", "/v1/pages/{id}/submit", "submit-website-page", "Submit a page",
		"Ahead of the queue, within the quotas. The answer does not wait for it: GET /v1/websites/{id}/submissions has the answers of the search engines. "+
			"409 if the website has neither Google credentials nor an IndexNow key, or if this page cannot be submitted so.",
		models.CodeNotFound, models.CodeConflict)
	submit.DefaultStatus = http.StatusAccepted
	api.Register(r, submit, a.submitPage)
	verify := api.Operation(groupPages, middleware.Editor, "POST", "/v1/pages/{id}/verify", "verify-website-page", "Verify a page",
		"Asks Google whether the page is indexed, ahead of all others, within the quotas. The answer does not wait for it. 409 if the website has no Google credentials.",
		models.CodeNotFound, models.CodeConflict)
	verify.DefaultStatus = http.StatusAccepted
	api.Register(r, verify, a.verifyPage)
}

// PagePath names a page of a website.
type PagePath struct {
	ID string `path:"id" example:"p_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the page"`
}

// Page is a page of a website on the wire.
type Page struct {
	ID              string     `json:"id" example:"p_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the page. Ids sort by creation time"`
	WebsiteID       string     `json:"website_id" example:"w_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the website"`
	URL             string     `json:"url" example:"https://example.com/about" doc:"URL"`
	Lastmod         *time.Time `json:"lastmod" example:"2025-03-24T12:00:00Z" doc:"When the page was last modified, by its sitemap. null if that does not say"`
	AutoPriority    int        `json:"auto_priority" minimum:"10" maximum:"100" example:"85" doc:"Automatic priority, which falls with the age of lastmod"`
	ManualPriority  *int       `json:"manual_priority" minimum:"1" maximum:"100" example:"100" doc:"Manual priority. null if there is none"`
	Priority        int        `json:"priority" minimum:"1" maximum:"100" example:"100" doc:"Priority that counts: the manual one, else the automatic one"`
	PriorityReason  string     `json:"priority_reason" example:"Modified 2 days ago" doc:"Why it has this priority"`
	Status          string     `json:"status" enum:"pending,submitted,indexed,not_indexed,failed" example:"indexed" doc:"Status. submitted means that Google was not asked since"`
	Cause           *string    `json:"cause" example:"crawled_not_indexed" doc:"Why it failed or is not indexed. Pages are grouped by it. null if there is no cause"`
	CoverageState   *string    `json:"coverage_state" example:"Submitted and indexed" doc:"Coverage state, in Google's words. null if it is not known"`
	Verdict         *string    `json:"verdict" example:"PASS" doc:"Verdict of Google's URL inspection: PASS, PARTIAL, FAIL or NEUTRAL. null if it is not known"`
	RobotsState     *string    `json:"robots_state" example:"ALLOWED" doc:"Whether robots.txt lets Google crawl it. null if it is not known"`
	IndexingState   *string    `json:"indexing_state" example:"INDEXING_ALLOWED" doc:"Whether the page allows indexing, as Google saw it. null if it is not known"`
	FetchState      *string    `json:"fetch_state" example:"SUCCESSFUL" doc:"Whether Google could fetch it. null if it is not known"`
	GoogleCanonical *string    `json:"google_canonical" example:"https://example.com/about" doc:"Page that Google shows for it. null if it is not known"`
	UserCanonical   *string    `json:"user_canonical" example:"https://example.com/about" doc:"Page that it names as canonical. null if it is not known"`
	OtherCanonical  bool       `json:"other_canonical" example:"false" doc:"Whether Google shows another page in its place"`
	LastCrawledAt   *time.Time `json:"last_crawled_at" example:"2025-03-25T12:00:00Z" doc:"When Google last crawled it. null if it is not known"`
	CreatedAt       time.Time  `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"When it was found"`
	LastSubmittedAt *time.Time `json:"last_submitted_at" example:"2025-03-24T12:10:00Z" doc:"When a search engine last accepted it. null if none did"`
	LastVerifiedAt  *time.Time `json:"last_verified_at" example:"2025-03-25T12:10:00Z" doc:"When Google last said whether it is indexed. null if it never did"`
	NotifiedAt      *time.Time `json:"notified_at" example:"2025-03-24T12:10:00Z" doc:"When the Indexing API received its latest notification, by Google. null if it is not known"`
	LastError       *string    `json:"last_error" example:"status 429" doc:"Why its last submission or verification failed. null if it did not"`
	Queued          bool       `json:"queued" example:"true" doc:"Whether it waits to be submitted"`
	SubmitWantedAt  *time.Time `json:"submit_wanted_at" doc:"Since when it waits for a submission that was asked for. null if none was"`
	VerifyWantedAt  *time.Time `json:"verify_wanted_at" doc:"Since when it waits for a verification that was asked for. null if none was"`
	GoneAt          *time.Time `json:"gone_at" doc:"Since when no sitemap has it. null if one has it"`
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
		SubmitWantedAt: api.Time(p.SubmitWantedAt), VerifyWantedAt: api.Time(p.VerifyWantedAt), GoneAt: api.Time(p.GoneAt),
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
	Status string `query:"status" enum:"pending,submitted,indexed,not_indexed,failed" example:"not_indexed" doc:"Status"`
	Queued bool   `query:"queued" example:"true" doc:"true lists pages that wait to be submitted: to Google, or by IndexNow if the website has no Google credentials"`
	Cause  string `query:"cause" example:"crawled_not_indexed" doc:"Cause, whole. At most 512 bytes"`
	Gone   bool   `query:"gone" example:"true" doc:"true lists pages that no sitemap has any more, in place of the others"`
	Match  string `query:"q" example:"/blog/*" doc:"Pattern of the path that begins with /, or a part of the URL, ignoring case. * stands for any text. At most 512 bytes"`
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
		ManualPriority api.Member[int] `json:"manual_priority,omitempty" minimum:"1" maximum:"100" example:"100" doc:"Manual priority. null removes it"`
	}
}

func (a API) editPage(ctx context.Context, in *editPageInput) (*api.Output[Page], error) {
	if !in.Body.ManualPriority.Given {
		return a.getPage(ctx, &in.PagePath)
	}
	return a.answerPage(a.Sites.SetPriority(ctx, in.ID, priorityOf(in.Body.ManualPriority)))
}

// priorityOf is the manual priority of a member that was given; nil = none.
func priorityOf(m api.Member[int]) *int {
	if m.Null {
		return nil
	}
	return &m.Value
}

type submitPageInput struct {
	PagePath
	Body *struct {
		Action string `json:"action,omitempty" enum:"updated,deleted" example:"updated" doc:"What search engines are told: updated, or deleted if the page was removed. updated if left out"`
	}
}

func (a API) submitPage(ctx context.Context, in *submitPageInput) (*api.Output[Page], error) {
	removal := in.Body != nil && in.Body.Action == string(sites.Deleted)
	return a.answerPage(a.Sites.WantSubmission(ctx, in.ID, removal))
}

func (a API) verifyPage(ctx context.Context, in *PagePath) (*api.Output[Page], error) {
	return a.answerPage(a.Sites.WantVerification(ctx, in.ID))
}
