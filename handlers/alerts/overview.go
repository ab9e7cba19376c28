package alerts

import (
	"context"

	views "linkwatch/views/alerts"
	"linkwatch/views/ui"
)

// Overview returns the alerts part of the overview page.
func (p Pages) Overview(ctx context.Context, _ string) (ui.OverviewPart, error) {
	at, err := p.Alerts.Attention(ctx, ui.AttentionRows)
	if err != nil {
		return ui.OverviewPart{}, err
	}
	o := views.Overview{Attention: at, Message: p.Alerts.Message, Now: p.Clock.Now().Time}
	return o.Part(), nil //nolint:contextcheck // Render passes the context to its components
}
