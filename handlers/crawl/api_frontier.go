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

func (a API) registerFrontier(r *api.API) {
	api.Register(r, api.Sorts(api.Operation(groupFrontier, middleware.Viewer, "GET", "/v1/frontier", "list-frontier", "List the frontier",
		"Oldest first. Entries are kept for a day after their crawl has ended."), "created_at"), a.listFrontier)
	api.Register(r, api.Creates(api.Operation(groupFrontier, middleware.Editor, "POST", "/v1/frontier", "add-frontier-entry", "Add a URL to the frontier",
		"Fetches the URL once with the settings of its source. Its links are not followed. Returns 200 with the existing entry if the URL is already queued.",
		models.CodeConflict), "FrontierEntry"), a.addEntry)
	api.Register(r, api.Item(api.Operation(groupFrontier, middleware.Viewer, "GET", "/v1/frontier/{id}", "get-frontier-entry", "Get a URL of the frontier", "Returns its status.", models.CodeNotFound),
		"id", "url"), a.getEntry)
	api.Register(r, api.Operation(groupFrontier, middleware.Editor, "POST", "/v1/frontier/{id}/retry", "retry-frontier-entry", "Retry a failed URL",
		"Fetches the URL again and resets its attempts. Returns 409 if it has not failed, its source is disabled, or its crawl is not running.",
		models.CodeNotFound, models.CodeConflict), a.retryEntry)
	api.Register(r, api.Operation(groupFrontier, middleware.Editor, "POST", "/v1/frontier/bulk", "change-frontier", "Retry or delete many URLs at once",
		"Ignores URLs that do not exist, that you cannot see, or that cannot be retried."), a.bulkEntries)
	api.Register(r, api.Operation(groupFrontier, middleware.Editor, "DELETE", "/v1/frontier/{id}", "delete-frontier-entry", "Delete a URL from the frontier",
		"A request that is already running is not interrupted.", models.CodeNotFound), a.deleteEntry)
	api.Register(r, api.Sorts(api.Operation(groupFrontier, middleware.Viewer, "GET", "/v1/discovered-links", "list-discovered-links", "List discovered links",
		"Links from crawled pages to URLs outside the allowed domains. Oldest first."), "created_at"), a.listDiscovered)
	api.Register(r, api.Item(api.Operation(groupFrontier, middleware.Viewer, "GET", "/v1/discovered-links/{id}", "get-discovered-link", "Get a discovered link", "Returns where it was found.", models.CodeNotFound),
		"id", "url"), a.getDiscovered)
	api.Register(r, api.Operation(groupFrontier, middleware.Editor, "DELETE", "/v1/discovered-links/{id}", "delete-discovered-link", "Delete a discovered link",
		"A crawl that finds the link again adds it again. POST /v1/discovered-links/{id}/restore restores the link within a day.", models.CodeNotFound), a.deleteDiscovered)
	api.Register(r, api.Operation(groupFrontier, middleware.Editor, "POST", "/v1/discovered-links/{id}/restore", "restore-discovered-link", "Restore a deleted discovered link",
		"Returns 404 if the link was not deleted, or was deleted more than a day ago.", models.CodeNotFound), a.restoreDiscovered)
	api.Register(r, api.Operation(groupFrontier, middleware.Editor, "POST", "/v1/discovered-links/bulk", "change-discovered-links", "Delete many discovered links at once",
		"Ignores links that do not exist or that you cannot see."), a.bulkDiscovered)
}

// FrontierEntry is a URL of the frontier in the API.
type FrontierEntry struct {
	ID          string    `json:"id" example:"f_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the entry"`
	SourceID    string    `json:"source_id" example:"s_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the source"`
	ExecutionID *string   `json:"execution_id" example:"e_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the execution. null if a user or a feed added the URL"`
	URL         string    `json:"url" example:"https://example.com/about" doc:"URL. After a redirect, the new URL"`
	Depth       int       `json:"depth" example:"1" doc:"Number of links from the start page"`
	Status      string    `json:"status" enum:"pending,fetching,done,failed" example:"done" doc:"Status. fetching means that it is among the next URLs of its host"`
	Attempts    int       `json:"attempts" example:"0" doc:"Number of failed requests"`
	LastError   *string   `json:"last_error" example:"too_many_redirects" doc:"Why it failed or was skipped. null if neither"`
	CreatedAt   time.Time `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"Creation time"`
	UpdatedAt   time.Time `json:"updated_at" example:"2025-03-24T12:00:01Z" doc:"Time of the last status change"`
}

func toEntry(e crawl.FrontierEntry) FrontierEntry {
	return FrontierEntry{
		ID: e.ID(), SourceID: e.SourceID, ExecutionID: api.OrNull(e.ExecutionID), URL: e.URL, Depth: e.Depth, Status: string(e.Status),
		Attempts: e.Attempts, LastError: api.OrNull(e.LastError), CreatedAt: e.CreatedAt.Time, UpdatedAt: e.UpdatedAt.Time,
	}
}

type listFrontierInput struct {
	api.SliceParams
	SourceID    string `query:"source_id" example:"s_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the source"`
	ExecutionID string `query:"execution_id" example:"e_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of an execution"`
	Status      string `query:"status" enum:"pending,fetching,done,failed" example:"failed" doc:"Status"`
}

func (a API) listFrontier(ctx context.Context, in *listFrontierInput) (*api.Output[api.Slice[FrontierEntry]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	l, err := a.Crawl.Frontier(ctx, crawl.EntryFilter{SourceID: in.SourceID, ExecutionID: in.ExecutionID, Status: crawl.EntryStatus(in.Status)}, after, limit)
	return api.AnswerSlice(l, toEntry, err)
}

type addEntryInput struct {
	Body struct {
		URL      string `json:"url" example:"https://example.com/about" doc:"URL to fetch, http or https, at most 2048 bytes"`
		SourceID string `json:"source_id,omitempty" example:"s_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the source. Default: a source for the host of the URL, which is created if needed"`
	}
}

type addEntryOutput struct {
	Status   int
	Location string `header:"Location" doc:"Path of the entry in this API"`
	Body     FrontierEntry
}

func (a API) addEntry(ctx context.Context, in *addEntryInput) (*addEntryOutput, error) {
	e, created, err := a.Crawl.AddEntry(ctx, in.Body.URL, in.Body.SourceID)
	if err != nil {
		return nil, err
	}
	out := &addEntryOutput{http.StatusOK, "/v1/frontier/" + e.ID(), toEntry(e)}
	if created {
		out.Status = http.StatusCreated
	}
	return out, nil
}

type entryPath struct {
	ID string `path:"id" example:"f_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the entry"`
}

func (a API) getEntry(ctx context.Context, in *entryPath) (*api.Output[FrontierEntry], error) {
	e, err := a.Crawl.Entry(ctx, in.ID)
	return api.Answer(toEntry(e), err)
}

func (a API) retryEntry(ctx context.Context, in *entryPath) (*api.Output[FrontierEntry], error) {
	e, err := a.Crawl.RetryEntry(ctx, in.ID)
	return api.Answer(toEntry(e), err)
}

func (a API) deleteEntry(ctx context.Context, in *entryPath) (*struct{}, error) {
	return nil, a.Crawl.DeleteEntry(ctx, in.ID)
}

// DiscoveredLink is a link to another site in the API.
type DiscoveredLink struct {
	ID        string    `json:"id" example:"d_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the link"`
	SourceID  string    `json:"source_id" example:"s_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the source"`
	URL       string    `json:"url" example:"https://example.org/" doc:"URL of the link"`
	Text      string    `json:"text" example:"Example" doc:"Link text. Empty if it has none"`
	FoundOn   string    `json:"found_on" example:"https://example.com/about" doc:"URL of the page where it was first found"`
	CreatedAt time.Time `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"Creation time"`
}

func toDiscovered(d crawl.DiscoveredLink) DiscoveredLink {
	return DiscoveredLink{ID: d.ID(), SourceID: d.SourceID, URL: d.URL, Text: d.Text, FoundOn: d.FoundOn, CreatedAt: d.CreatedAt.Time}
}

type listDiscoveredInput struct {
	api.SliceParams
	SourceID string `query:"source_id" example:"s_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the source"`
	Host     string `query:"host" example:"example.org" doc:"Exact host of the URL. Without a port, URLs with any port match"`
	Query    string `query:"q" example:"example" doc:"Part of the URL or the link text, at most 512 bytes"`
}

func (a API) listDiscovered(ctx context.Context, in *listDiscoveredInput) (*api.Output[api.Slice[DiscoveredLink]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	l, err := a.Crawl.DiscoveredLinks(ctx, crawl.DiscoveredFilter{SourceID: in.SourceID, Host: in.Host, Text: in.Query}, after, limit)
	return api.AnswerSlice(l, toDiscovered, err)
}

type discoveredPath struct {
	ID string `path:"id" example:"d_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the link"`
}

func (a API) getDiscovered(ctx context.Context, in *discoveredPath) (*api.Output[DiscoveredLink], error) {
	d, err := a.Crawl.DiscoveredLink(ctx, in.ID)
	return api.Answer(toDiscovered(d), err)
}

func (a API) restoreDiscovered(ctx context.Context, in *discoveredPath) (*api.Output[DiscoveredLink], error) {
	d, err := a.Crawl.RestoreDiscoveredLink(ctx, in.ID)
	return api.Answer(toDiscovered(d), err)
}

func (a API) deleteDiscovered(ctx context.Context, in *discoveredPath) (*struct{}, error) {
	d, err := a.Crawl.DeleteDiscoveredLinks(ctx, in.ID)
	if err == nil && d.N == 0 {
		err = models.NotFound("discovered link")
	}
	return nil, err
}
