package links

import (
	"context"

	views "linkwatch/views/links"
	"linkwatch/views/ui"
)

const overviewSize = 8 // recent and popular links

// Overview returns the part of the overview about links.
func (p Pages) Overview(ctx context.Context, base string) (ui.OverviewPart, error) {
	v := views.Overview{Now: p.Clock.Now().Time, BaseURL: base}
	for _, read := range []func() error{
		func() (err error) { v.Counts, err = p.Links.Counts(ctx); return },
		func() (err error) { v.Attention, err = p.Links.NeedAttention(ctx, ui.AttentionRows); return },
		func() (err error) { v.Recent, v.Popular, err = p.Links.RecentAndPopular(ctx, overviewSize); return },
	} {
		if err := read(); err != nil {
			return ui.OverviewPart{}, err
		}
	}
	return v.Part(), nil
}
