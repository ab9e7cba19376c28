package links

import (
	"context"

	"linkwatch/models"
	"linkwatch/models/links"
	views "linkwatch/views/links"
	"linkwatch/views/ui"
)

const glanceSize = 8 // recent and popular links on the overview

// Overview is what the overview shows of links.
func (p Pages) Overview(ctx context.Context, base string) (ui.OverviewPart, error) {
	v := views.Overview{Now: p.Clock.Now().Time, BaseURL: base}
	glance := models.Page{Number: 1, Size: glanceSize}
	for _, read := range []func() error{
		func() (err error) { v.Counts, err = p.Links.Counts(ctx); return },
		func() (err error) { v.Attention, err = p.Links.NeedAttention(ctx, ui.AttentionRows); return },
		func() error {
			found, err := p.Links.List(ctx, links.Filter{}, glance)
			v.Recent = found.Items
			return err
		},
		func() error {
			found, err := p.Links.Popular(ctx, glance)
			v.Popular = found.Items
			return err
		},
	} {
		if err := read(); err != nil {
			return ui.OverviewPart{}, err
		}
	}
	return v.Part(), nil
}
