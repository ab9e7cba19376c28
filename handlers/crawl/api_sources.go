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
	api.Register(r, api.Operation(groupSources, middleware.Viewer, "GET", "/v1/sources", "list-sources", "List sources", "Oldest first."), a.listSources)
	add := api.Operation(groupSources, middleware.Editor, "POST", "/v1/sources", "add-source", "Add a source", "It is crawled once a job of it is added.")
	add.DefaultStatus = http.StatusCreated
	api.Register(r, add, a.addSource)
	api.Register(r, api.Operation(groupSources, middleware.Viewer, "GET", "/v1/sources/{id}", "get-source", "Get a source", "With its settings.", models.CodeNotFound), a.getSource)
	api.Register(r, api.Operation(groupSources, middleware.Editor, "PATCH", "/v1/sources/{id}", "edit-source", "Change a source",
		"A member that is left out stays as it is. The jobs of a disabled source do not start, and its running crawls end.", models.CodeNotFound), a.editSource)
	api.Register(r, api.Operation(groupSources, middleware.Editor, "DELETE", "/v1/sources/{id}", "delete-source", "Delete a source",
		"With its jobs. Its running crawls end. POST /v1/sources/{id}/restore restores it within a day.", models.CodeNotFound), a.deleteSource)
	api.Register(r, api.Operation(groupSources, middleware.Editor, "POST", "/v1/sources/{id}/restore", "restore-source", "Restore a deleted source",
		"With the jobs that were deleted with it. 404 if it was not deleted, or more than a day ago.", models.CodeNotFound, models.CodeConflict), a.restoreSource)
}

// SourcePath names a source.
type SourcePath struct {
	ID string `path:"id" example:"s_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the source"`
}

// Source is a site to crawl on the wire.
type Source struct {
	ID              string    `json:"id" example:"s_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the source. Ids sort by creation time"`
	Owner           string    `json:"owner" example:"alice" doc:"Name of the account that added it. system if nobody had to sign in"`
	Private         bool      `json:"private" example:"false" doc:"Whether only its owner and admins see it, with its jobs and what they find"`
	Name            string    `json:"name" example:"Example" doc:"Name. The host of the URL if none was given"`
	URL             string    `json:"url" example:"https://example.com/" doc:"URL of the site"`
	Enabled         bool      `json:"enabled" example:"true" doc:"Whether its jobs run"`
	MaxDepth        int       `json:"max_depth" example:"3" doc:"How many links away from the start page a crawl goes. 0 means 3"`
	AllowedDomains  []string  `json:"allowed_domains" nullable:"false" doc:"Domains that a crawl may go to, each with all hosts below it. Empty allows the host of the URL alone"`
	RateLimitMS     int       `json:"rate_limit_ms" example:"1000" doc:"Pause between two requests to a host, in milliseconds. A longer Crawl-delay in robots.txt counts instead"`
	IntervalMinutes *int      `json:"interval_minutes" example:"6" doc:"Interval of jobs that are made for it, in units of interval_type. null if it has none"`
	IntervalType    string    `json:"interval_type" enum:"minutes,hours,days" example:"hours" doc:"Unit of interval_minutes"`
	CreatedAt       time.Time `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"When the source was added"`
	UpdatedAt       time.Time `json:"updated_at" example:"2025-03-24T12:00:00Z" doc:"When its settings were last changed"`
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

// SourceSettings are what the owner of a source sets.
type SourceSettings struct {
	Name           api.Member[string]   `json:"name,omitempty" example:"Example" doc:"Name, at most 200 characters. null uses the host of the URL"`
	Enabled        api.Member[bool]     `json:"enabled,omitempty" nullable:"false" example:"true" doc:"Whether its jobs run. true if left out at first"`
	MaxDepth       api.Member[int]      `json:"max_depth,omitempty" minimum:"0" maximum:"100" example:"3" doc:"How many links away from the start page a crawl goes. 0 and null mean 3. Above 5 a crawl may grow without end"`
	AllowedDomains api.Member[[]string] `json:"allowed_domains,omitempty" doc:"At most 50 domains that a crawl may go to. null allows the host of the URL alone"`
	RateLimitMS    api.Member[int]      `json:"rate_limit_ms,omitempty" minimum:"0" maximum:"3600000" example:"1000" doc:"Pause between two requests to a host, in milliseconds. 1000 if left out at first"`
	Private        api.Member[bool]     `json:"private,omitempty" nullable:"false" example:"false" doc:"Whether only its owner and admins see it. false if left out at first. Only they may change it"`
	IntervalSettings
}

// IntervalSettings are how often something is crawled.
type IntervalSettings struct {
	IntervalMinutes api.Member[int]    `json:"interval_minutes,omitempty" example:"6" doc:"Interval in units of interval_type, at most 366 days. null is none"`
	IntervalType    api.Member[string] `json:"interval_type,omitempty" enum:"minutes,hours,days" example:"hours" doc:"Unit of interval_minutes: minutes, hours or days"`
}

// interval is the interval that was asked for, before being what it was.
func (s IntervalSettings) interval(before crawl.Interval) (crawl.Interval, error) {
	count, unit := api.OrNull(before.Count), string(before.Type)
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
	s, err := a.Crawl.AddSource(ctx, n)
	if err != nil {
		return nil, err
	}
	return &addSourceOutput{"/v1/sources/" + s.ID, toSource(s)}, nil
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
