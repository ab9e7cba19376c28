package crawl

import (
	"context"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/crawl/fulltext"
)

func (a API) registerPages(r *api.API) {
	api.Register(r, api.Sorts(api.Operation(groupPages, middleware.Viewer, "GET", "/v1/crawled-pages", "list-crawled-pages", "List or search crawled pages",
		"Without q, sorted by created_at, oldest first. With q, returns pages that contain all words, sorted by relevance only, best match first. Use quotes for a phrase, "+
			"word* for a prefix, and -word to exclude pages. A search returns up to 1,000 pages. Duplicates of canonical pages are omitted. "+
			"text is cut to 1,000 characters. GET /v1/crawled-pages/{id} returns all of it."), "created_at", "relevance"), a.listPages)
	api.Register(r, api.Item(api.Operation(groupPages, middleware.Viewer, "GET", "/v1/crawled-pages/{id}", "get-crawled-page", "Get a crawled page",
		"Returns its text, metadata and newest 20 versions.", models.CodeNotFound), "id", "url"), a.getPage)
	api.Register(r, api.Item(api.Operation(groupPages, middleware.Viewer, "GET", "/v1/crawled-pages/{id}/versions/{version}", "get-page-version", "Get a version of a crawled page",
		"Returns the text of that version.", models.CodeNotFound), "version", "hash"), a.getVersion)
	api.Register(r, api.Operation(groupPages, middleware.Viewer, "GET", "/v1/crawled-pages/{id}/diff", "compare-page-versions", "Compare two versions of a crawled page",
		"Returns the lines that differ.", models.CodeNotFound), a.comparePage)
	api.Register(r, api.Operation(groupPages, middleware.Editor, "DELETE", "/v1/crawled-pages/{id}", "delete-crawled-page", "Delete a crawled page",
		"Deletes its versions too. A crawl that finds the page again adds it again. POST /v1/crawled-pages/{id}/restore restores the page within a day.", models.CodeNotFound), a.deletePage)
	api.Register(r, api.Operation(groupPages, middleware.Editor, "POST", "/v1/crawled-pages/{id}/restore", "restore-crawled-page", "Restore a deleted crawled page",
		"Restores its versions too. Returns 404 if the page was not deleted, or was deleted more than a day ago.", models.CodeNotFound), a.restorePage)
	api.Register(r, api.Operation(groupPages, middleware.Editor, "POST", "/v1/crawled-pages/bulk", "change-crawled-pages", "Delete many crawled pages at once",
		"Ignores pages that do not exist or that you cannot see."), a.bulkPages)
	api.Register(r, api.SortsOnly(api.Operation(groupJobs, middleware.Viewer, "GET", "/v1/executions/{id}/changes", "list-page-changes", "List changed pages of an execution",
		"Returns the changes in the order in which they were found.", models.CodeNotFound), "created_at", models.Ascending), a.listChanges)
	api.Register(r, api.Sorts(api.Operation(groupJobs, middleware.Viewer, "GET", "/v1/executions/{id}/broken-links", "list-broken-links", "List broken links of an execution",
		"Links to URLs that could not be fetched, at most 10,000. The list is complete when reported of the execution is true.",
		models.CodeNotFound), "created_at"), a.listBroken)
}

// CrawledPage is a crawled page in lists of the API.
type CrawledPage struct {
	ID          string      `json:"id" example:"k_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the page"`
	SourceID    string      `json:"source_id" example:"s_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the source"`
	URL         string      `json:"url" example:"https://example.com/about" doc:"URL"`
	StatusCode  int         `json:"status_code" example:"200" doc:"Status of the last response"`
	Title       string      `json:"title" example:"About us" doc:"Title"`
	Description string      `json:"description" example:"Who we are" doc:"Meta description"`
	Language    string      `json:"language" example:"en" doc:"Language, as an ISO 639-1 code if there is one. Empty if unknown"`
	Author      string      `json:"author" example:"Jane Doe" doc:"Author. Empty if unknown"`
	PublishedAt *time.Time  `json:"published_at" example:"2025-03-01T08:00:00Z" doc:"Publication time according to the page. null if unknown"`
	ModifiedAt  *time.Time  `json:"modified_at" example:"2025-03-02T08:00:00Z" doc:"Modification time according to the page. null if unknown"`
	Text        string      `json:"text" example:"We are a small team …" doc:"Main text, one paragraph per line. Empty if it has none. In lists, at most its first 1,000 characters (Unicode code points)"`
	Truncated   bool        `json:"text_truncated" example:"false" doc:"Whether the text is longer than the member text"`
	WordCount   int         `json:"word_count" example:"420" doc:"Number of words of the text"`
	Hash        *string     `json:"hash" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" doc:"SHA-256 of the text. null if it has no text"`
	Snippet     *string     `json:"snippet" example:"… about the quick fox …" doc:"Part of the text that matches the search. null without a search"`
	Highlights  []Highlight `json:"highlights" nullable:"false" doc:"Matches in the snippet. Empty without a search"`
	FetchedAt   time.Time   `json:"fetched_at" example:"2025-03-24T12:00:00Z" doc:"Time of the last fetch"`
	ChangedAt   time.Time   `json:"changed_at" example:"2025-03-20T12:00:00Z" doc:"Time when its text last changed"`
	GoneAt      *time.Time  `json:"gone_at" example:"2025-03-25T12:00:00Z" doc:"Time when it was found gone: status 404 or 410, or no longer linked. null if it exists"`
	Archived    bool        `json:"archived" example:"false" doc:"Whether a copy of its HTML is archived"`
}

// Highlight is a match in a snippet.
type Highlight struct {
	Start int `json:"start" example:"12" doc:"Offset of its start, in Unicode code points"`
	End   int `json:"end" example:"17" doc:"Offset of its end, in Unicode code points"`
}

func toPage(p crawl.FoundPage) CrawledPage {
	out := CrawledPage{
		ID: p.ID(), SourceID: p.SourceID, URL: p.URL, StatusCode: p.StatusCode, Title: p.Title, Description: p.Description, Language: p.Language,
		Author: p.Author, PublishedAt: api.Time(p.PublishedAt), ModifiedAt: api.Time(p.ModifiedAt), WordCount: p.WordCount, Hash: api.OrNull(p.ContentHash),
		FetchedAt: p.FetchedAt.Time, ChangedAt: p.ChangedAt.Time, GoneAt: api.Time(p.GoneAt), Highlights: []Highlight{},
	}
	if p.Snippet != nil {
		text, marks := toSnippet(p.Snippet)
		out.Snippet, out.Highlights = &text, marks
	}
	return out
}

func toSnippet(pieces []fulltext.Piece) (text string, marks []Highlight) {
	var b strings.Builder
	n, marks := 0, []Highlight{}
	for _, p := range pieces {
		b.WriteString(p.Text)
		end := n + utf8.RuneCountInString(p.Text)
		if p.Match {
			marks = append(marks, Highlight{n, end})
		}
		n = end
	}
	return b.String(), marks
}

type listPagesInput struct {
	api.SliceParams
	Query    string `query:"q" example:"solar \"heat pump\" -gas" doc:"Words to search for"`
	SourceID string `query:"source_id" example:"s_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the source"`
	Language string `query:"language" example:"en" doc:"Language"`
	Since    string `query:"since" format:"date" example:"2025-03-01" doc:"Earliest day, in UTC, on which the page was published, or first fetched if that is unknown"`
	Until    string `query:"until" format:"date" example:"2025-03-31" doc:"Latest day, in UTC"`
}

func (in listPagesInput) filter() (f crawl.PageFilter, err error) {
	f = crawl.PageFilter{Query: in.Query, SourceID: in.SourceID, Language: in.Language}
	for _, day := range []struct {
		name, text string
		to         *time.Time
	}{{"since", in.Since, &f.Since}, {"until", in.Until, &f.Till}} {
		if day.text == "" {
			continue
		}
		if *day.to, err = time.Parse(time.DateOnly, day.text); err != nil {
			return f, models.Invalid("query."+day.name, "must be a day such as 2025-03-24")
		}
	}
	return f, nil
}

func (a API) listPages(ctx context.Context, in *listPagesInput) (*api.Output[api.Slice[CrawledPage]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	f, err := in.filter()
	if err != nil {
		return nil, err
	}
	l, err := a.Crawl.Pages(ctx, f, after, limit)
	if err != nil {
		return nil, err
	}
	found := make([]crawl.Page, len(l.Items))
	for i, p := range l.Items {
		found[i] = p.Page
	}
	texts, err := a.Crawl.Excerpts(ctx, found...)
	if err != nil {
		return nil, err
	}
	archived, err := a.Crawl.HaveCopies(ctx, found...)
	return api.AnswerSlice(l.Slice, func(p crawl.FoundPage) CrawledPage {
		out := toPage(p)
		out.Text, out.Truncated, out.Archived = texts[p.Seq].Text, texts[p.Seq].Truncated, archived[p.Seq]
		return out
	}, err)
}

// CrawledPageDetails is a single crawled page in the API.
type CrawledPageDetails struct {
	CrawledPage
	DuplicateOf *string          `json:"duplicate_of" example:"https://example.com/about" doc:"Canonical URL that lists and searches show instead of this page. null if the page is not a duplicate"`
	Headings    []string         `json:"headings" nullable:"false" doc:"Headings of the first three levels"`
	OpenGraph   PageOpenGraph    `json:"opengraph" doc:"OpenGraph data"`
	JSONLD      []map[string]any `json:"json_ld" nullable:"false" doc:"JSON-LD of the page, normalized"`
	Copies      []PageCopy       `json:"copies" nullable:"false" doc:"Archived copies of its HTML, newest first, at most 20"`
	Versions    []PageVersion    `json:"versions" nullable:"false" doc:"Stored versions, newest first"`
}

// PageOpenGraph is the OpenGraph data of a crawled page in the API.
type PageOpenGraph struct {
	Title       string `json:"title" example:"About us" doc:"og:title"`
	Description string `json:"description" example:"Who we are" doc:"og:description"`
	Image       string `json:"image" example:"https://example.com/team.jpg" doc:"og:image"`
	SiteName    string `json:"site_name" example:"Example" doc:"og:site_name"`
	Type        string `json:"type" example:"article" doc:"og:type"`
}

// PageCopy is an archived copy of a crawled page in the API.
type PageCopy struct {
	Hash      string    `json:"hash" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" doc:"SHA-256 of the HTML. /crawl/pages/{id}/archive/{hash} shows it"`
	Bytes     int       `json:"bytes" example:"18432" doc:"Size of the HTML in bytes"`
	CreatedAt time.Time `json:"created_at" example:"2025-03-20T12:00:00Z" doc:"Time when the page was first fetched with this HTML"`
	FetchedAt time.Time `json:"fetched_at" example:"2025-03-24T12:00:00Z" doc:"Time when the page was last fetched with this HTML"`
}

func toCopy(c crawl.Copy) PageCopy {
	return PageCopy{c.Hash.String(), c.Bytes, c.CreatedAt.Time, c.FetchedAt.Time}
}

// PagePath is the id of a crawled page in a path.
type PagePath struct {
	ID string `path:"id" example:"k_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the page"`
}

func (a API) getPage(ctx context.Context, in *PagePath) (*api.Output[CrawledPageDetails], error) {
	p, err := a.Crawl.CrawledPage(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	versions, err := a.Crawl.PageVersions(ctx, p)
	if err != nil {
		return nil, err
	}
	copies, err := a.Crawl.Copies(ctx, p, maxCopies)
	if err != nil {
		return nil, err
	}
	out := CrawledPageDetails{
		CrawledPage: toPage(crawl.FoundPage{Page: p}), Headings: p.HeadingList(), OpenGraph: PageOpenGraph(p.OpenGraph), JSONLD: []map[string]any{},
		Copies: api.All(copies, toCopy), Versions: api.All(versions, toVersion),
	}
	out.Archived = len(copies) > 0
	if to, ok := p.OtherCanonical(); ok && p.Duplicate {
		out.DuplicateOf = &to
	}
	if p.JSONLD != "" {
		if err := json.Unmarshal([]byte(p.JSONLD), &out.JSONLD); err != nil {
			return nil, err
		}
	}
	out.Text, err = p.Text.Decompress()
	return api.Answer(out, err)
}

func (a API) restorePage(ctx context.Context, in *PagePath) (*api.Output[CrawledPageDetails], error) {
	if err := a.Crawl.RestorePage(ctx, in.ID); err != nil {
		return nil, err
	}
	return a.getPage(ctx, in)
}

func (a API) deletePage(ctx context.Context, in *PagePath) (*struct{}, error) {
	d, err := a.Crawl.DeletePages(ctx, in.ID)
	if err == nil && d.N == 0 {
		err = models.NotFound("crawled page")
	}
	return nil, err
}
