package crawl

import (
	"context"
	"time"

	"linkwatch/handlers/api"
	"linkwatch/models/crawl"
)

// PageChange is a change of a page that an execution found on the wire.
type PageChange struct {
	PageID     string    `json:"page_id" example:"k_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the page"`
	URL        string    `json:"url" example:"https://example.com/about" doc:"URL of the page"`
	Title      string    `json:"title" example:"About us" doc:"Title of the page"`
	Change     string    `json:"change" enum:"new,changed,gone,back" example:"changed" doc:"What was new about it"`
	Version    int       `json:"version" example:"3" doc:"Number of the version that it then had"`
	StatusCode *int      `json:"status_code" example:"200" doc:"Status of the response. null if it was not requested, because no page links to it any more"`
	FoundAt    time.Time `json:"found_at" example:"2025-03-24T12:00:00Z" doc:"When the change was found"`
}

func toChange(c crawl.PageChange) PageChange {
	return PageChange{c.PageID(), c.URL, c.Title, string(c.Change), c.Version, api.OrNull(c.StatusCode), c.CreatedAt.Time}
}

type listChangesInput struct {
	ExecutionPath
	api.SliceParams
	Change string `query:"change" enum:"new,changed,gone,back" example:"changed" doc:"Only changes of this kind. new includes back"`
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

// BrokenLink is a broken link that an execution found on the wire.
type BrokenLink struct {
	URL     string `json:"url" example:"https://example.com/old" doc:"URL that could not be fetched"`
	Error   string `json:"error" example:"status 404" doc:"Why it could not be fetched"`
	FoundOn string `json:"found_on" example:"https://example.com/about" doc:"URL of the page that links to it"`
	PageID  string `json:"page_id" example:"k_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of that page"`
	Text    string `json:"text" example:"Our team" doc:"Text of the link. Empty if it has none"`
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
