package sites

import (
	"context"

	"linkwatch/handlers/pages"
	views "linkwatch/views/sites"
	"linkwatch/views/ui"
)

// Finders returns the search over websites for the global search.
func (p Pages) Finders() []pages.Finder {
	return []pages.Finder{{
		Kind: "Websites",
		Find: func(ctx context.Context, text string, limit int) ([]ui.Hit, error) {
			found, err := p.Sites.Find(ctx, text, limit)
			return views.Hits(found), err
		},
	}}
}
