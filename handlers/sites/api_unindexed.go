package sites

import (
	"context"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/sites"
	views "linkwatch/views/sites"
)

func (a API) registerUnindexed(r *api.API) {
	api.Register(r, api.SortsOnly(api.Operation(groupPages, middleware.Viewer, "GET", "/v1/websites/{id}/not-indexed", "list-unindexed-pages", "List pages that are not indexed, with the reasons",
		"Pages that are not_indexed or failed, and pages about which Google gave no clear answer. With cause, all pages with this cause, also indexed ones. Queue order.",
		models.CodeNotFound), "priority", models.Descending), a.listUnindexed)
	api.Register(r, api.Operation(groupPages, middleware.Viewer, "GET", "/v1/websites/{id}/causes", "list-website-causes", "Count pages by cause",
		"Why pages are not indexed, and threats to indexed ones. Most frequent first.", models.CodeNotFound), a.listCauses)
	api.Register(r, api.Operation(groupPages, middleware.Viewer, "GET", "/v1/pages/{id}/findings", "get-website-page-findings", "Get the findings of a page",
		"Why the page is not indexed or may drop out of the index. Compares Google's report with the last crawl, check and recheck.", models.CodeNotFound), a.getFindings)
}

// DiagnosedPage is a page with its findings in the API.
type DiagnosedPage struct {
	Page
	Findings []PageFinding `json:"findings" nullable:"false" doc:"Reasons why the page is not indexed or may drop out of the index, the most certain first"`
	Crawl    *string       `json:"crawl" example:"status 200, noindex, 120 words" doc:"What the last crawl saw. null if the page was not crawled"`
	Checks   *string       `json:"checks" example:"up, status 200" doc:"Last check of the target, or last recheck of the saved link. null if there is neither"`
}

// PageFinding is a reason why a page is not indexed in the API.
type PageFinding struct {
	Certainty string `json:"certainty" enum:"certain,likely,google,waiting" example:"certain" doc:"certain: confirmed by Linkwatch. likely: observed by Linkwatch, or probable. google: reported by Google only. waiting: no problem, the page is not processed yet"`
	Cause     string `json:"cause" example:"noindex" doc:"Cause"`
	Label     string `json:"label" example:"Excluded by noindex" doc:"Name of the cause"`
	Text      string `json:"text" example:"The page tells search engines not to index it." doc:"What is wrong"`
	Fix       string `json:"fix" example:"Remove noindex from the robots meta tag and the X-Robots-Tag header, then submit the page." doc:"What to do"`
}

func toFinding(f sites.Finding) PageFinding {
	return PageFinding{Certainty: string(f.Certainty), Cause: f.Cause, Label: sites.CauseBySlug(f.Cause).Label, Text: f.Text, Fix: f.Fix}
}

func (a API) toDiagnosed(d views.Diagnosed) DiagnosedPage {
	return DiagnosedPage{Page: a.toPage(d.Page), Findings: api.All(d.Findings, toFinding), Crawl: api.OrNull(d.Crawl()), Checks: api.OrNull(d.Checks())}
}

type listUnindexedInput struct {
	WebsitePath
	api.SliceParams
	Cause string `query:"cause" example:"crawled_not_indexed" doc:"Only pages with exactly this cause. At most 512 bytes"`
	Match string `query:"q" example:"/blog/*" doc:"Pattern of the path if it starts with /, else a part of the URL. Case-insensitive. * matches any text. At most 512 bytes"`
}

func (a API) listUnindexed(ctx context.Context, in *listUnindexedInput) (*api.Output[api.Slice[DiagnosedPage]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	l, err := a.Sites.Pages(ctx, in.ID, sites.Filter{Unindexed: true, Cause: in.Cause, Match: in.Match}, after, limit)
	if err != nil {
		return nil, err
	}
	rows, err := a.diagnose(ctx, l.Items...)
	return api.AnswerItems(l, api.All(rows, a.toDiagnosed), err)
}

func (a API) getFindings(ctx context.Context, in *PagePath) (*api.Output[DiagnosedPage], error) {
	p, err := a.Sites.Page(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	rows, err := a.diagnose(ctx, p)
	if err != nil {
		return nil, err
	}
	return api.Answer(a.toDiagnosed(rows[0]), nil)
}

// CauseCounts are the causes of a website in the API.
type CauseCounts struct {
	Items []CauseCount `json:"items" nullable:"false" doc:"Causes, most frequent first"`
}

// CauseCount is the number of pages with a cause and a status in the API.
type CauseCount struct {
	Cause  string `json:"cause" example:"crawled_not_indexed" doc:"Cause"`
	Label  string `json:"label" example:"Crawled, not indexed" doc:"Name of the cause"`
	Text   string `json:"text" example:"Google crawled the page and decided not to index it." doc:"What is wrong"`
	Fix    string `json:"fix" example:"Improve the content of the page and link to it from other pages." doc:"What to do"`
	Status string `json:"status" enum:"pending,submitted,indexed,not_indexed,failed" example:"not_indexed" doc:"Status of the pages"`
	Pages  int    `json:"pages" example:"12" doc:"Number of pages"`
}

func toCauseCount(n sites.Count) CauseCount {
	c := sites.CauseBySlug(n.Cause)
	return CauseCount{Cause: n.Cause, Label: c.Label, Text: c.Text, Fix: c.Fix, Status: string(n.Status), Pages: n.Pages}
}

func (a API) listCauses(ctx context.Context, in *WebsitePath) (*api.Output[CauseCounts], error) {
	w, err := a.Sites.Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	c, err := a.Sites.Counts(ctx, w)
	return api.Answer(CauseCounts{api.All(c.ByCause, toCauseCount)}, err)
}
