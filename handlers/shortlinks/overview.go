package shortlinks

import (
	"context"

	"linkwatch/models"
	"linkwatch/models/shortlinks"
	views "linkwatch/views/shortlinks"
	"linkwatch/views/ui"
)

const glanceSize = 5 // short links on the overview

// Overview returns the part of the overview about short links.
func (p Pages) Overview(ctx context.Context, _ string) (ui.OverviewPart, error) {
	newest, err := p.ShortLinks.List(ctx, shortlinks.Filter{Newest: true}, models.Cursor{}, glanceSize)
	return views.Overview{Newest: newest.Items}.Part(), err
}
