package admin

import (
	"context"

	views "linkwatch/views/admin"
	"linkwatch/views/ui"
)

// Overview returns failed jobs and filling disks. It is empty unless the user is an admin.
func (p Pages) Overview(ctx context.Context, _ string) (ui.OverviewPart, error) {
	if !ui.IsAdmin(ctx) {
		return ui.OverviewPart{}, nil
	}
	jobs, err := p.Jobs.Jobs(ctx)
	return views.Overview{Jobs: jobs, Filling: p.Disks.Filling(), Now: p.Clock.Now().Time}.Part(), err
}
