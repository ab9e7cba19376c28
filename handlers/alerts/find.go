package alerts

import (
	"context"

	"linkwatch/handlers/pages"
	views "linkwatch/views/alerts"
	"linkwatch/views/ui"
)

// Finders returns the global searches for alerts and for alert settings.
func (p Pages) Finders() []pages.Finder {
	return []pages.Finder{
		{
			Kind: "Alerts",
			Find: func(ctx context.Context, text string, limit int) ([]ui.Hit, error) {
				found, err := p.Alerts.Find(ctx, text, limit)
				return views.AlertHits(found, p.Alerts.Message), err
			},
		},
		{
			Kind: "Alert settings",
			Find: func(ctx context.Context, text string, limit int) ([]ui.Hit, error) {
				found, err := p.Alerts.FindSettings(ctx, text)
				hits := views.SettingHits(found)
				return hits[:min(len(hits), limit)], err
			},
		},
	}
}
