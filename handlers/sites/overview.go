package sites

import (
	"context"

	"linkwatch/models"
	"linkwatch/models/sites"
	views "linkwatch/views/sites"
	"linkwatch/views/ui"
)

// Overview is what the overview shows of websites.
func (p Pages) Overview(ctx context.Context, _ string) (ui.OverviewPart, error) {
	v := views.Overview{Now: p.Clock.Now().Time}
	for _, read := range []func() error{
		func() (err error) { v.Total, v.InTrouble, err = p.Sites.Total(ctx); return },
		func() (err error) { v.Refused, err = p.inTrouble(ctx, sites.GoogleRefuses); return },
		func() (err error) { v.Unread, err = p.inTrouble(ctx, sites.SitemapsUnread); return },
		func() (err error) { v.Failed, err = p.inTrouble(ctx, sites.PagesFailed); return },
		func() (err error) { v.Broken, err = p.Sites.BrokenSitemaps(ctx, v.Unread); return },
		func() error {
			first, err := p.Sites.List(ctx, models.Cursor{}, ui.AttentionRows)
			v.First = first.Items
			return err
		},
		func() (err error) { v.Counts, err = p.Sites.CountsOf(ctx, v.First); return },
		func() (err error) { v.FailedCounts, err = p.Sites.CountsOf(ctx, v.Failed); return },
	} {
		if err := read(); err != nil {
			return ui.OverviewPart{}, err
		}
	}
	return v.Part(), nil
}

func (p Pages) inTrouble(ctx context.Context, t sites.Trouble) ([]sites.Website, error) {
	first, err := p.Sites.InTrouble(ctx, t, models.Cursor{}, ui.AttentionRows)
	return first.Items, err
}
