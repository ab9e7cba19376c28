package crawl

import (
	"context"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/crawl"
	views "linkwatch/views/crawl"
	"linkwatch/views/ui"
)

// Finders returns the global searches for jobs and crawled pages.
func (p Pages) Finders() []pages.Finder {
	return []pages.Finder{
		{
			Kind: "Crawl jobs",
			Find: func(ctx context.Context, text string, limit int) ([]ui.Hit, error) {
				found, err := p.Crawl.Find(ctx, text, limit)
				return views.JobHits(found), err
			},
			All: func(text string) string { return views.Place{JobFilter: crawl.JobFilter{Text: text}}.Path() },
		},
		{
			Kind: "Crawled pages",
			Find: func(ctx context.Context, text string, limit int) ([]ui.Hit, error) {
				found, err := p.Crawl.Pages(ctx, crawl.PageFilter{Query: text}, models.Cursor{}, limit)
				return views.PageHits(found.Items), err
			},
			All: func(text string) string { return views.CrawledPlace{Text: text}.Path() },
		},
	}
}
