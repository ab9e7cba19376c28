package links

import (
	"context"
	"log/slog"
	"time"

	"linkwatch/jobs"
	"linkwatch/jobs/dispatch"
	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/links"
)

// NewRefresher returns the service that refreshes queued links, with a number of workers and at most one request
// per host. It claims links as holder, whose lease a Heartbeat renews. When it stops, it requeues claimed links that
// it has not fetched.
func NewRefresher(store *links.Store, holder *lease.Lease, workers int, log *slog.Logger) jobs.Service {
	return jobs.NewBackground(func(taking, working context.Context) {
		q := &queue[links.RefreshItem, links.Refetched]{
			store: store, log: log,
			claim: store.ClaimRefreshes, finish: store.FinishRefreshes,
			release: store.ReleaseRefreshes, releaseOthers: store.ReleaseOtherRefreshes,
			request: func(ctx context.Context, i links.RefreshItem) (links.Refetched, time.Duration, error) {
				r, err := store.Refetch(ctx, i)
				return r, r.Wait, err
			},
			link: func(i links.RefreshItem) (links.Link, models.Time) { return i.Link, i.DueAt },
		}
		// Run returns an error only with Drain.
		_ = q.run(taking, working, dispatch.Options{Name: "refreshes", Lease: holder, Workers: workers, Wanted: store.RefreshQueued()})
	})
}
