package shortlinks

import (
	"context"

	"linkwatch/handlers/pages"
	views "linkwatch/views/shortlinks"
	"linkwatch/views/ui"
)

// Finders returns the global search over short links.
func (p Pages) Finders() []pages.Finder {
	return []pages.Finder{{
		Kind: "Short links",
		Find: func(ctx context.Context, text string, limit int) ([]ui.Hit, error) {
			found, err := p.ShortLinks.Find(ctx, text, limit)
			return views.Hits(found, p.ShortLinks.Now()), err
		},
		All: func(text string) string { return views.Place{Text: text}.Path() },
	}}
}
