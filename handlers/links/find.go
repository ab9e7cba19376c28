package links

import (
	"context"

	"linkwatch/handlers/pages"
	"linkwatch/models/links"
	views "linkwatch/views/links"
	"linkwatch/views/ui"
)

// Finders returns the global search over links.
func (p Pages) Finders() []pages.Finder {
	return []pages.Finder{{
		Kind: "Links",
		Find: func(ctx context.Context, text string, limit int) ([]ui.Hit, error) {
			found, err := p.Links.Find(ctx, text, limit)
			return views.Hits(found), err
		},
		All: func(text string) string { return views.Place{Filter: links.Filter{Query: text}}.Path() },
	}}
}
