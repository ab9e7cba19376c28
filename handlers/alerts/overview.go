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
	return views.Overview{Attention: at, Message: p.Alerts.Message, Now: p.Clock.Now().Time}.Part(), nil
}
