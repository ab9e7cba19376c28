package alerts

import (
	"context"

	views "linkwatch/views/alerts"
	"linkwatch/views/ui"
)

// attentionSize is of how many unattended alerts the overview shows the most severe ones.
const attentionSize = 100

// Overview is what the overview shows of alerts.
func (p Pages) Overview(ctx context.Context, _ string) (ui.OverviewPart, error) {
	at, err := p.Alerts.Attention(ctx, attentionSize)
	if err != nil {
		return ui.OverviewPart{}, err
	}
	return views.Overview{Attention: at, Message: p.Alerts.Message, Now: p.Clock.Now().Time}.Part(), nil
}
