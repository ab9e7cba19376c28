package links

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/linkwatch/linkwatch/jobs"
	"github.com/linkwatch/linkwatch/models/links"
)

// refreshPoll is how soon links are refreshed that no Start of this process
// asked for: those of a process that was killed, when their claims end.
const refreshPoll = 30 * time.Second

// NewRefresher makes the service that fetches the metadata of queued links
// anew, with a fixed number of workers.
func NewRefresher(store *links.Store, workers int, log *slog.Logger) jobs.Service {
	return jobs.NewBackground(func(taking, working context.Context) {
		wake := make(chan struct{}, workers)
		var pool sync.WaitGroup
		defer pool.Wait()
		for range workers {
			pool.Go(func() { refresh(taking, working, store, wake, log) })
		}
		poll := time.NewTicker(refreshPoll)
		defer poll.Stop()
		for { // wake every worker: one that finds nothing sleeps again
			for range workers {
				select {
				case wake <- struct{}{}:
				default:
				}
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

// refresh empties the queue each time it is woken.
func refresh(taking, working context.Context, store *links.Store, wake <-chan struct{}, log *slog.Logger) {
	for {
		select {
		case <-taking.Done():
			return
		case <-wake:
		}
		for taking.Err() == nil {
			found, err := store.RefreshNext(working)
			if err != nil && working.Err() == nil {
				log.Error("refreshing links", "error", err)
			}
			if !found {
				break
			}
		}
	}
}
