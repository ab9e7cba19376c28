package crawl

import (
	"context"
	"time"

	"linkwatch/handlers/api"
	"linkwatch/models/crawl"
	"linkwatch/models/crawl/textdiff"
)

// PageVersion is a version of a crawled page in the API.
type PageVersion struct {
	Version   int       `json:"version" example:"3" doc:"Number of the version, starting at 1"`
	Change    string    `json:"change" enum:"new,changed,gone,back" example:"changed" doc:"Kind of change"`
	Title     string    `json:"title" example:"About us" doc:"Title"`
	Hash      *string   `json:"hash" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" doc:"SHA-256 of the text. null if the page was gone"`
	WordCount int       `json:"word_count" example:"420" doc:"Number of words"`
	CreatedAt time.Time `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"Time when the version was found"`
}

func toVersion(v crawl.Version) PageVersion {
	return PageVersion{v.Version, string(v.Change), v.Title, api.OrNull(v.ContentHash), v.WordCount, v.CreatedAt.Time}
}

type versionPath struct {
	PagePath
	Version int `path:"version" minimum:"1" example:"3" doc:"Number of the version"`
}

// PageVersionText is a version of a crawled page with its text in the API.
type PageVersionText struct {
	PageVersion
	Text string `json:"text" example:"We are a small team …" doc:"Main text, one paragraph per line"`
}

func (a API) getVersion(ctx context.Context, in *versionPath) (*api.Output[PageVersionText], error) {
	p, err := a.Crawl.CrawledPage(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	v, err := a.Crawl.PageVersion(ctx, p, in.Version)
	if err != nil {
		return nil, err
	}
	text, err := v.Text.Decompress()
	return api.Answer(PageVersionText{toVersion(v), text}, err)
}

type comparePageInput struct {
	PagePath
	From int `query:"from" minimum:"0" example:"2" doc:"Number of the older version. Default: the version before to"`
	To   int `query:"to" minimum:"0" example:"3" doc:"Number of the newer version. Default: the newest"`
}

// PageDiff is the comparison of two versions of a crawled page in the API.
type PageDiff struct {
	From    int        `json:"from" example:"2" doc:"Number of the older version. 0 if there is none"`
	To      int        `json:"to" example:"3" doc:"Number of the newer version. 0 if there is none"`
	Added   int        `json:"added" example:"12" doc:"Number of words only in the newer version"`
	Removed int        `json:"removed" example:"3" doc:"Number of words only in the older version"`
	Cut     bool       `json:"cut" example:"false" doc:"Whether only the first 256 KiB of the texts were compared"`
	Lines   []DiffLine `json:"lines" nullable:"false" doc:"Lines that differ"`
}

// DiffLine is a line of a comparison in the API.
type DiffLine struct {
	Kind string `json:"kind" enum:"changed,added,removed" example:"changed" doc:"Kind of difference"`
	Old  string `json:"old" example:"The price is 10 euros" doc:"The line in the older version. Empty if it was added"`
	New  string `json:"new" example:"The price is 12 euros" doc:"The line in the newer version. Empty if it was removed"`
}

func (a API) comparePage(ctx context.Context, in *comparePageInput) (*api.Output[PageDiff], error) {
	p, err := a.Crawl.CrawledPage(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	c, err := a.compare(ctx, p, in.From, in.To)
	out := PageDiff{From: c.From.Version, To: c.To.Version, Added: c.Diff.Added, Removed: c.Diff.Removed, Cut: c.Diff.Cut, Lines: []DiffLine{}}
	for _, row := range c.Diff.Rows {
		if row.Kind != textdiff.Same {
			out.Lines = append(out.Lines, DiffLine{string(row.Kind), textdiff.Text(row.Old), textdiff.Text(row.New)})
		}
	}
	return api.Answer(out, err)
}
