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
	api.Register(r, api.Operation(groupFrontier, middleware.Viewer, "GET", "/v1/frontier", "list-frontier", "List the frontier",
		"Oldest first. Entries are kept for a day after their crawl."), a.listFrontier)
	api.Register(r, api.Creates(api.Operation(groupFrontier, middleware.Editor, "POST", "/v1/frontier", "add-frontier-entry", "Add a URL to the frontier",
		"It is fetched once, by the settings of its source, and its links are not followed. If it waits already, the answer is 200 with that entry.",
		models.CodeConflict), "FrontierEntry"), a.addEntry)
	api.Register(r, api.Operation(groupFrontier, middleware.Editor, "DELETE", "/v1/frontier/{id}", "delete-frontier-entry", "Remove a URL from the frontier",
		"A request for it that is under way ends as usual.", models.CodeNotFound), a.deleteEntry)
	api.Register(r, api.Operation(groupFrontier, middleware.Viewer, "GET", "/v1/discovered-links", "list-discovered-links", "List discovered links",
		"Links of crawled pages that lead out of the allowed domains, oldest first."), a.listDiscovered)
	api.Register(r, api.Operation(groupFrontier, middleware.Editor, "DELETE", "/v1/discovered-links/{id}", "delete-discovered-link", "Delete a discovered link",
		"It comes back when a crawl finds it again.", models.CodeNotFound), a.deleteDiscovered)
}

// FrontierEntry is a URL of the frontier on the wire.
type FrontierEntry struct {
	ID          string    `json:"id" example:"f_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the entry"`
	SourceID    string    `json:"source_id" example:"s_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the source"`
	ExecutionID *string   `json:"execution_id" example:"e_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the execution. null if it was added by hand or is of a feed"`
	URL         string    `json:"url" example:"https://example.com/about" doc:"URL. After a redirect, the one that it leads to"`
	Depth       int       `json:"depth" example:"1" doc:"Number of links from the start page"`
	Status      string    `json:"status" enum:"pending,fetching,done,failed" example:"done" doc:"Status. fetching means that it is one of the next of its host"`
	Attempts    int       `json:"attempts" example:"0" doc:"Number of requests that failed"`
	LastError   *string   `json:"last_error" example:"too_many_redirects" doc:"Why it failed, or was not fetched. null if there is no reason"`
	CreatedAt   time.Time `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"When it was found"`
	UpdatedAt   time.Time `json:"updated_at" example:"2025-03-24T12:00:01Z" doc:"When its status last changed"`
}

func toEntry(e crawl.EntryRow) FrontierEntry {
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
		SourceID string `json:"source_id,omitempty" example:"s_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the source. If left out, a source of the URL's host, which is made if there is none"`
	}
}

type addEntryOutput struct {
	Status   int
	Location string `header:"Location" doc:"Path of the frontier in this API"`
	Body     FrontierEntry
}

func (a API) addEntry(ctx context.Context, in *addEntryInput) (*addEntryOutput, error) {
	e, created, err := a.Crawl.AddEntry(ctx, in.Body.URL, in.Body.SourceID)
	if err != nil {
		return nil, err
	}
	out := &addEntryOutput{http.StatusOK, "/v1/frontier", toEntry(e)}
	if created {
		out.Status = http.StatusCreated
	}
	return out, nil
}

type entryPath struct {
	ID string `path:"id" example:"f_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the entry"`
}

func (a API) deleteEntry(ctx context.Context, in *entryPath) (*struct{}, error) {
	return nil, a.Crawl.DeleteEntry(ctx, in.ID)
}

// DiscoveredLink is a link that leads out of the crawled sites on the wire.
type DiscoveredLink struct {
	ID        string    `json:"id" example:"d_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the link"`
	SourceID  string    `json:"source_id" example:"s_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the source"`
	URL       string    `json:"url" example:"https://example.org/" doc:"URL that it leads to"`
	Text      string    `json:"text" example:"Example" doc:"Text of the link. Empty if it has none"`
	FoundOn   string    `json:"found_on" example:"https://example.com/about" doc:"URL of the page where it was found first"`
	CreatedAt time.Time `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"When it was found"`
}

func toDiscovered(d crawl.Discovered) DiscoveredLink {
	return DiscoveredLink{ID: d.ID(), SourceID: d.SourceID, URL: d.URL, Text: d.Text, FoundOn: d.FoundOn, CreatedAt: d.CreatedAt.Time}
}

type listDiscoveredInput struct {
	api.SliceParams
	SourceID string `query:"source_id" example:"s_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the source"`
	Host     string `query:"host" example:"example.org" doc:"Host of the URL, whole. Without a port, URLs with any port match"`
	Query    string `query:"q" example:"example" doc:"Part of the URL or of the text of the link, at most 512 bytes"`
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

func (a API) deleteDiscovered(ctx context.Context, in *discoveredPath) (*struct{}, error) {
	d, err := a.Crawl.DeleteDiscovered(ctx, in.ID)
	if err == nil && d.N == 0 {
		err = models.NotFound("discovered link")
	}
	return nil, err
}
