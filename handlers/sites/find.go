package sites

import (
	"context"

	"linkwatch/handlers/pages"
	views "linkwatch/views/sites"
	"linkwatch/views/ui"
)

// Finders are the search over websites, whose list has none.
func (p Pages) Finders() []pages.Finder {
	return []pages.Finder{{
		Kind: "Websites",
		Find: func(ctx context.Context, text string, limit int) ([]ui.Hit, error) {
			found, err := p.Sites.Find(ctx, text, limit)
			return views.Hits(found), err
		},
	}}
}
