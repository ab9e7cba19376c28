package links

import (
	"context"
	"log/slog"
	"time"

	"linkwatch/jobs"
	"linkwatch/models"
	"linkwatch/models/links"
)

const (
	// refreshPoll is how soon links are refreshed that no StartRefresh of this
	// process asked for: those whose site's pause is over, and those of a
	// process that was killed, when their claims end.
	refreshPoll = 30 * time.Second
	// maxRefused bounds what the refresher remembers of the links it gave back.
	maxRefused = 10_000
)

// NewRefresher makes the service that refetches the metadata of queued links, with
// a fixed number of workers and at most one request per host. Links that it has
// claimed but not fetched are back in the queue when it has stopped.
func NewRefresher(store *links.Store, workers int, log *slog.Logger) jobs.Service {
	return jobs.NewBackground(func(taking, working context.Context) {
		poll := time.NewTicker(refreshPoll)
		defer poll.Stop()
		r := &refresher{store: store, refused: map[string]bool{}}
		d := &dispatcher[links.RefreshItem]{
			workers: workers, host: func(i links.RefreshItem) string { return models.HostPort(i.Link.CanonicalURL) },
			claim: r.claim, refuse: r.refuse, work: store.FinishRefresh, release: r.release,
			wanted: store.RefreshWanted(), poll: poll.C,
		}
		for {
			if err := d.run(taking, working); err != nil {
				jobs.LogError(log, "refreshing links", err)
			}
			select {
			case <-taking.Done():
				return
			case <-store.RefreshWanted():
			case <-poll.C:
			}
		}
	})
}

// refresher goes through the queue of refreshes round by round. Claims bring
// the links that were given back after all others, so that a link which was
// refused before ends the round.
type refresher struct {
	store   *links.Store
	refused map[string]bool // in this round
}

func (r *refresher) claim(ctx context.Context, n int) ([]links.RefreshItem, error) {
	items, err := r.store.ClaimRefreshes(ctx, n)
	if len(items) == 0 {
		clear(r.refused)
	}
	return items, err
}

func (r *refresher) refuse(ctx context.Context, items []links.RefreshItem) (more bool, err error) {
	more = true
	for _, i := range items {
		key := i.RefreshID + i.Link.ID
		if r.refused[key] || len(r.refused) >= maxRefused {
			more = false
		}
		r.refused[key] = true
	}
	if !more {
		clear(r.refused)
	}
	return more, r.release(ctx, items)
}

func (r *refresher) release(ctx context.Context, items []links.RefreshItem) error {
	return r.store.ReleaseRefreshes(ctx, items...)
}
