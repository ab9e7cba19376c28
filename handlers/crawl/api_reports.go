package crawl

import (
	"context"
	"time"

	"linkwatch/handlers/api"
	"linkwatch/models/crawl"
)

// PageChange is a changed page of an execution in the API.
type PageChange struct {
	PageID     string    `json:"page_id" example:"k_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the page"`
	URL        string    `json:"url" example:"https://example.com/about" doc:"URL of the page"`
	Title      string    `json:"title" example:"About us" doc:"Title of the page"`
	Change     string    `json:"change" enum:"new,changed,gone,back" example:"changed" doc:"Kind of change"`
	Version    int       `json:"version" example:"3" doc:"Number of the resulting version"`
	StatusCode *int      `json:"status_code" example:"200" doc:"Status of the response. null if the page was not requested because it is no longer linked"`
	FoundAt    time.Time `json:"found_at" example:"2025-03-24T12:00:00Z" doc:"Time when the change was found"`
}

func toChange(c crawl.PageChange) PageChange {
	return PageChange{c.PageID(), c.URL, c.Title, string(c.Change), c.Version, api.OrNull(c.StatusCode), c.CreatedAt.Time}
}

type listChangesInput struct {
	ExecutionPath
	api.SliceParams
	Change string `query:"change" enum:"new,changed,gone,back" example:"changed" doc:"Kind of change. new includes back"`
}

func (a API) listChanges(ctx context.Context, in *listChangesInput) (*api.Output[api.Slice[PageChange]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	e, err := a.Crawl.Execution(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	l, err := a.Crawl.PageChanges(ctx, e, crawl.Change(in.Change), after, limit)
	return api.AnswerSlice(l, toChange, err)
}

// BrokenLink is a broken link of an execution in the API.
type BrokenLink struct {
	URL     string `json:"url" example:"https://example.com/old" doc:"URL that could not be fetched"`
	Error   string `json:"error" example:"status 404" doc:"Why it could not be fetched"`
	FoundOn string `json:"found_on" example:"https://example.com/about" doc:"URL of the page that links to it"`
	PageID  string `json:"page_id" example:"k_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of that page"`
	Text    string `json:"text" example:"Our team" doc:"Link text. Empty if it has none"`
}

func toBroken(b crawl.BrokenLink) BrokenLink {
	return BrokenLink{b.URL, b.Error, b.FoundOn, b.PageID(), b.Text}
}

type listBrokenInput struct {
	ExecutionPath
	api.SliceParams
}

func (a API) listBroken(ctx context.Context, in *listBrokenInput) (*api.Output[api.Slice[BrokenLink]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	e, err := a.Crawl.Execution(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	l, err := a.Crawl.BrokenLinks(ctx, e, after, limit)
	return api.AnswerSlice(l, toBroken, err)
}
