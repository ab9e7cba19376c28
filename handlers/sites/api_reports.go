package sites

import (
	"context"
	"time"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/sites"
)

func (a API) registerReports(r *api.API) {
	api.Register(r, api.Operation(groupWebsites, middleware.Viewer, "GET", "/v1/websites/{id}/quota", "get-website-quota", "Get the quotas of a website",
		"publish, metadata and requests are shared by all websites of a Google project.", models.CodeNotFound), a.getQuota)
	api.Register(r, api.Operation(groupWebsites, middleware.Viewer, "GET", "/v1/websites/{id}/coverage", "get-website-coverage", "Get the coverage of a website by day",
		"Days in UTC, oldest first. The last item is today so far. Days without data are omitted.", models.CodeNotFound), a.getCoverage)
}

// Quota is the use of Google's quotas in the API.
type Quota struct {
	Publish    QuotaMeter `json:"publish" doc:"Indexing API notifications of the Google project today, in Pacific time"`
	Inspection QuotaMeter `json:"inspection" doc:"URL inspections of the property today, in Pacific time"`
	Metadata   QuotaMeter `json:"metadata" doc:"Indexing API metadata requests of the Google project in the last minute"`
	Requests   QuotaMeter `json:"requests" doc:"All Indexing API requests of the Google project in the last minute"`
}

// QuotaMeter is the use of one quota in the API.
type QuotaMeter struct {
	Used     int       `json:"used" example:"20" doc:"Number of requests used. May exceed limit after the limit was lowered"`
	Limit    int       `json:"limit" example:"200" doc:"Maximum number of requests"`
	ResetsAt time.Time `json:"resets_at" example:"2025-03-25T07:00:00Z" doc:"When the full quota is available again"`
}

func toQuota(q sites.Quota) Quota {
	return Quota{Publish: toMeter(q.Publish), Inspection: toMeter(q.Inspections), Metadata: toMeter(q.Metadata), Requests: toMeter(q.Requests)}
}

func toMeter(m sites.Meter) QuotaMeter {
	return QuotaMeter{Used: m.Used, Limit: m.Limit, ResetsAt: m.ResetsAt.Time}
}

func (a API) getQuota(ctx context.Context, in *WebsitePath) (*api.Output[Quota], error) {
	w, err := a.Sites.Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	q, err := a.Sites.Quota(ctx, w)
	return api.Answer(toQuota(q), err)
}

// Coverage is the coverage of a website by day in the API.
type Coverage struct {
	Items []CoverageDay `json:"items" nullable:"false" doc:"Days, oldest first"`
}

// CoverageDay is the number of pages in each status at the end of a day, or now for today, in the API.
type CoverageDay struct {
	Day        string `json:"day" format:"date" example:"2025-03-24" doc:"Day in UTC"`
	Pending    int    `json:"pending" example:"20" doc:"Pages not submitted yet"`
	Submitted  int    `json:"submitted" example:"30" doc:"Pages submitted and not verified since"`
	Indexed    int    `json:"indexed" example:"60" doc:"Pages indexed by Google"`
	NotIndexed int    `json:"not_indexed" example:"9" doc:"Pages not indexed by Google"`
	Failed     int    `json:"failed" example:"1" doc:"Pages whose submission failed"`
}

func toDay(d sites.Day) CoverageDay {
	n := d.ByStatus
	return CoverageDay{
		Day: d.At.Format(time.DateOnly), Pending: n[sites.Pending], Submitted: n[sites.Submitted], Indexed: n[sites.Indexed], NotIndexed: n[sites.NotIndexed], Failed: n[sites.Failed],
	}
}

type coverageInput struct {
	WebsitePath
	Days int `query:"days" default:"90" minimum:"1" maximum:"400" doc:"Number of days to return"`
}

func (a API) getCoverage(ctx context.Context, in *coverageInput) (*api.Output[Coverage], error) {
	w, err := a.Sites.Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	days, err := a.Sites.Coverage(ctx, w, a.Sites.Now().StartOfDay().Add(-time.Duration(in.Days-1)*models.Day))
	return api.Answer(Coverage{api.All(days, toDay)}, err)
}
