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
		func() (err error) { v.With, err = p.withProblems(ctx); return },
		func() (err error) {
			v.SitemapErrors, err = p.Sites.SitemapErrors(ctx, v.With[sites.ProblemSitemaps])
			return
		},
		func() error {
			first, err := p.Sites.List(ctx, models.Cursor{}, ui.AttentionRows)
			v.First = first.Items
			return err
		},
		func() (err error) { v.Counts, err = p.Sites.CountsOf(ctx, v.First); return },
		func() (err error) { v.FailedCounts, err = p.Sites.CountsOf(ctx, v.With[sites.ProblemPages]); return },
	} {
		if err := read(); err != nil {
			return ui.OverviewPart{}, err
		}
	}
	return v.Part(), nil
}

// withProblems returns the first websites with each problem.
func (p Pages) withProblems(ctx context.Context) (map[sites.Problem][]sites.Website, error) {
	with := map[sites.Problem][]sites.Website{}
	for _, t := range sites.Problems() {
		first, err := p.Sites.WithProblem(ctx, t, models.Cursor{}, ui.AttentionRows)
		if err != nil {
			return nil, err
		}
		with[t] = first.Items
	}
	return with, nil
}
