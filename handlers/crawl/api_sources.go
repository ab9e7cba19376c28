package crawl

import (
	"context"
	"net/http"
	"time"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/crawl"
)

func (a API) registerSources(r *api.API) {
	api.Register(r, api.Sorts(api.Operation(groupSources, middleware.Viewer, "GET", "/v1/sources", "list-sources", "List sources", "Oldest first."), "created_at"), a.listSources)
	api.Register(r, api.Creates(api.Operation(groupSources, middleware.Editor, "POST", "/v1/sources", "add-source", "Add a source",
		"A source is crawled when it has a job. Returns 200 with the existing source, unchanged, if a shared source or one of yours has the same URL."), "Source"), a.addSource)
	api.Register(r, api.Item(api.Operation(groupSources, middleware.Viewer, "GET", "/v1/sources/{id}", "get-source", "Get a source", "Returns its settings.", models.CodeNotFound),
		"id", "name", "url", "private", "enabled", "max_depth", "allowed_domains", "rate_limit_ms", "interval_minutes", "interval_type"), a.getSource)
	api.Register(r, api.Operation(groupSources, middleware.Editor, "PATCH", "/v1/sources/{id}", "edit-source", "Update a source",
		"Omitted fields stay unchanged. Disabling a source stops its running crawls, and its jobs do not start.", models.CodeNotFound), a.editSource)
	api.Register(r, api.Operation(groupSources, middleware.Editor, "DELETE", "/v1/sources/{id}", "delete-source", "Delete a source",
		"Deletes its jobs too and stops its running crawls. POST /v1/sources/{id}/restore restores the source within a day.", models.CodeNotFound), a.deleteSource)
	api.Register(r, api.Operation(groupSources, middleware.Editor, "POST", "/v1/sources/{id}/restore", "restore-source", "Restore a deleted source",
		"Restores the jobs that were deleted with it. Returns 404 if the source was not deleted, or was deleted more than a day ago.", models.CodeNotFound, models.CodeConflict), a.restoreSource)
}

// SourcePath is the id of a source in a path.
type SourcePath struct {
	ID string `path:"id" example:"s_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the source"`
}

// Source is a site to crawl in the API.
type Source struct {
	ID              string    `json:"id" example:"s_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the source. Ids sort by creation time"`
	Owner           string    `json:"owner" example:"alice" doc:"Name of the account that added it. system if authentication was off"`
	Private         bool      `json:"private" example:"false" doc:"Whether only its owner and admins see it, its jobs and its pages"`
	Name            string    `json:"name" example:"Example" doc:"Name. Default: the host of the URL, with its port"`
	URL             string    `json:"url" example:"https://example.com/" doc:"URL of the site"`
	Enabled         bool      `json:"enabled" example:"true" doc:"Whether its jobs run"`
	MaxDepth        int       `json:"max_depth" example:"3" doc:"Maximum number of links from the start page. 0 means 3"`
	AllowedDomains  []string  `json:"allowed_domains" nullable:"false" doc:"Hosts that are crawled, including their subdomains: example.com or example.com:8080. A host without a port has the port of the URL. 80 and 443 are the same. Empty means the host and port of the URL only"`
	RateLimitMS     int       `json:"rate_limit_ms" example:"1000" doc:"Delay between two requests to a host, in milliseconds. A longer Crawl-delay in robots.txt takes precedence"`
	IntervalMinutes *int      `json:"interval_minutes" example:"6" doc:"Default interval of its jobs, in units of interval_type. null if it has none"`
	IntervalType    string    `json:"interval_type" enum:"minutes,hours,days" example:"hours" doc:"Unit of interval_minutes"`
	CreatedAt       time.Time `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"Creation time"`
	UpdatedAt       time.Time `json:"updated_at" example:"2025-03-24T12:00:00Z" doc:"Time of the last change of its settings"`
}

func toSource(s crawl.Source) Source {
	return Source{
		ID: s.ID, Owner: s.Owner, Private: s.Private(), Name: s.Name, URL: s.URL, Enabled: s.Enabled, MaxDepth: s.MaxDepth, AllowedDomains: append([]string{}, s.AllowedDomains...),
		RateLimitMS: s.RateLimitMS, IntervalMinutes: api.OrNull(s.IntervalCount), IntervalType: string(s.IntervalType),
		CreatedAt: s.CreatedAt.Time, UpdatedAt: s.UpdatedAt.Time,
	}
}

type listSourcesInput struct {
	api.SliceParams
	Text string `query:"q" example:"example" doc:"Part of the name or the URL, ignoring case. At most 512 bytes"`
}

func (a API) listSources(ctx context.Context, in *listSourcesInput) (*api.Output[api.Slice[Source]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	l, err := a.Crawl.Sources(ctx, in.Text, after, limit)
	return api.AnswerSlice(l, toSource, err)
}

// SourceSettings are the settings of a source.
type SourceSettings struct {
	Name           api.Member[string]   `json:"name,omitempty" example:"Example" doc:"Name, at most 200 characters. null uses the host of the URL, with its port"`
	Enabled        api.Member[bool]     `json:"enabled,omitempty" nullable:"false" example:"true" doc:"Whether its jobs run. Default: true"`
	MaxDepth       api.Member[int]      `json:"max_depth,omitempty" minimum:"0" maximum:"100" example:"3" doc:"Maximum number of links from the start page. 0 and null mean 3. Above 5, crawls can become very large"`
	AllowedDomains api.Member[[]string] `json:"allowed_domains,omitempty" doc:"Up to 50 hosts to crawl, including their subdomains: example.com or example.com:8080. A host without a port has the port of the URL. 80 and 443 are the same. null means the host and port of the URL only"`
	RateLimitMS    api.Member[int]      `json:"rate_limit_ms,omitempty" minimum:"0" maximum:"3600000" example:"1000" doc:"Delay between two requests to a host, in milliseconds. Default: 1000"`
	Private        api.Member[bool]     `json:"private,omitempty" nullable:"false" example:"false" doc:"Whether only its owner and admins see it. Only they can change it. Default: false"`
	IntervalSettings
}

// IntervalSettings are the interval between two crawls.
type IntervalSettings struct {
	IntervalMinutes api.Member[int]    `json:"interval_minutes,omitempty" example:"6" doc:"Interval in units of interval_type, at most 366 days. null means no interval"`
	IntervalType    api.Member[string] `json:"interval_type,omitempty" enum:"minutes,hours,days" example:"hours" doc:"Unit of interval_minutes: minutes, hours or days"`
}

// interval returns the requested interval. Omitted fields are those of the previous interval.
func (s IntervalSettings) interval(previous crawl.Interval) (crawl.Interval, error) {
	count, unit := api.OrNull(previous.Count), string(previous.Type)
	if s.IntervalMinutes.Given {
		count = nil
		if !s.IntervalMinutes.Null {
			count = &s.IntervalMinutes.Value
		}
	}
	if s.IntervalType.Given {
		unit = s.IntervalType.Value
	}
	return crawl.ParseInterval(count, unit)
}

func (s IntervalSettings) given() bool { return s.IntervalMinutes.Given || s.IntervalType.Given }

type addSourceInput struct {
	Body struct {
		URL string `json:"url" example:"https://example.com/" doc:"URL of the site, http or https, at most 2048 bytes"`
		SourceSettings
	}
}

type addSourceOutput struct {
	Status   int
	Location string `header:"Location" doc:"Path of the source in this API"`
	Body     Source
}

func (a API) addSource(ctx context.Context, in *addSourceInput) (*addSourceOutput, error) {
	b := in.Body
	every, err := b.interval(crawl.Interval{})
	if err != nil {
		return nil, err
	}
	n := crawl.NewSource{
		URL: b.URL, Name: b.Name.Value, Enabled: true, MaxDepth: b.MaxDepth.Value, AllowedDomains: b.AllowedDomains.Value,
		RateLimitMS: b.RateLimitMS.Pointer(), Interval: every, Private: b.Private.Value,
	}
	b.Enabled.Set(&n.Enabled)
	s, created, err := a.Crawl.EnsureSource(ctx, n)
	if err != nil {
		return nil, err
	}
	out := &addSourceOutput{http.StatusOK, "/v1/sources/" + s.ID, toSource(s)}
	if created {
		out.Status = http.StatusCreated
	}
	return out, nil
}

func (a API) getSource(ctx context.Context, in *SourcePath) (*api.Output[Source], error) {
	s, err := a.Crawl.Source(ctx, in.ID)
	return api.Answer(toSource(s), err)
}

type editSourceInput struct {
	SourcePath
	Body struct {
		URL api.Member[string] `json:"url,omitempty" nullable:"false" example:"https://example.com/" doc:"URL of the site"`
		SourceSettings
	}
}

func (a API) editSource(ctx context.Context, in *editSourceInput) (*api.Output[Source], error) {
	b := in.Body
	switch {
	case b.URL.Null:
		return nil, models.Invalid("url", "must be a URL")
	case b.Enabled.Null:
		return nil, models.Invalid("enabled", "must be true or false")
	case b.Private.Null:
		return nil, models.Invalid("private", "must be true or false")
	}
	e := crawl.SourceEdit{
		URL: b.URL.Pointer(), Name: b.Name.Pointer(), Enabled: b.Enabled.Pointer(), MaxDepth: b.MaxDepth.Pointer(),
		AllowedDomains: b.AllowedDomains.Pointer(), RateLimitMS: b.RateLimitMS.Pointer(), Private: b.Private.Pointer(),
	}
	if b.given() {
		before, err := a.Crawl.Source(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		every, err := b.interval(before.Interval())
		if err != nil {
			return nil, err
		}
		e.Interval = &every
	}
	s, err := a.Crawl.EditSource(ctx, in.ID, e)
	return api.Answer(toSource(s), err)
}

func (a API) deleteSource(ctx context.Context, in *SourcePath) (*struct{}, error) {
	return nil, a.Crawl.DeleteSource(ctx, in.ID)
}

func (a API) restoreSource(ctx context.Context, in *SourcePath) (*api.Output[Source], error) {
	s, err := a.Crawl.RestoreSource(ctx, in.ID)
	return api.Answer(toSource(s), err)
}
