package crawl

import (
	"context"

	"linkwatch/models"
	"linkwatch/models/crawl"
	views "linkwatch/views/crawl"
	"linkwatch/views/ui"
)

// Overview returns the part of the overview page about crawls.
func (p Pages) Overview(ctx context.Context, _ string) (ui.OverviewPart, error) {
	v := views.Overview{Now: p.Clock.Now().Time}
	var err error
	if v.Counts, err = p.Crawl.StatusCounts(ctx); err != nil {
		return ui.OverviewPart{}, err
	}
	failed, err := p.Crawl.Jobs(ctx, crawl.JobFilter{Status: crawl.Failed}, models.Cursor{}, ui.AttentionRows)
	v.Failed = failed.Items
	return v.Part(), err
}
