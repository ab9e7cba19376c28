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

// NewRefresher makes the service that refetches the metadata of queued links, with
// a fixed number of workers and at most one request per host, under a lease that a
// Heartbeat keeps. Links that it has claimed but not fetched are back in the queue
// when it has stopped.
func NewRefresher(store *links.Store, held *lease.Lease, workers int, log *slog.Logger) jobs.Service {
	return jobs.NewBackground(func(taking, working context.Context) {
		q := &queue[links.RefreshItem, links.Refetched]{
			store: store, log: log,
			claim: store.ClaimRefreshes, finish: store.FinishRefreshes,
			release: store.ReleaseRefreshes, releaseOthers: store.ReleaseOtherRefreshes,
			look: func(ctx context.Context, i links.RefreshItem) (links.Refetched, time.Duration, error) {
				r, err := store.Refetch(ctx, i)
				return r, r.Wait, err
			},
			link: func(i links.RefreshItem) (links.Link, models.Time) { return i.Link, i.DueAt },
		}
		// It has an error only if it drains.
		_ = q.run(taking, working, dispatch.Options{Name: "refreshes", Lease: held, Workers: workers, Wanted: store.RefreshWanted()})
	})
}
