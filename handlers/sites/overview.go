package sites

import (
	"context"

	"linkwatch/models"
	"linkwatch/models/sites"
	views "linkwatch/views/sites"
	"linkwatch/views/ui"
)

// Overview returns the websites' part of the overview page.
func (p Pages) Overview(ctx context.Context, _ string) (ui.OverviewPart, error) {
	v := views.Overview{Now: p.Clock.Now().Time}
	for _, read := range []func() error{
		func() (err error) { v.Total, v.Problems, err = p.Sites.ProblemCounts(ctx); return },
		func() (err error) { v.Refused, err = p.withProblem(ctx, sites.ProblemGoogle); return },
		func() (err error) { v.Unread, err = p.withProblem(ctx, sites.ProblemSitemaps); return },
		func() (err error) { v.Failed, err = p.withProblem(ctx, sites.ProblemPages); return },
		func() (err error) { v.SitemapErrors, err = p.Sites.SitemapErrors(ctx, v.Unread); return },
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

func (p Pages) withProblem(ctx context.Context, t sites.Problem) ([]sites.Website, error) {
	first, err := p.Sites.WithProblem(ctx, t, models.Cursor{}, ui.AttentionRows)
	return first.Items, err
}
