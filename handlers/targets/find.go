package targets

import (
	"context"

	"linkwatch/handlers/pages"
	"linkwatch/models/targets"
	views "linkwatch/views/targets"
	"linkwatch/views/ui"
)

// Finders adds targets to the global search.
func (p Pages) Finders() []pages.Finder {
	return []pages.Finder{{
		Kind: "Targets",
		Find: func(ctx context.Context, text string, limit int) ([]ui.Hit, error) {
			found, err := p.Targets.Find(ctx, text, limit)
			return views.Hits(found), err
		},
		All: func(text string) string { return views.Place{Filter: targets.Filter{Text: text}}.Path() },
	}}
}
