// Package accounts stores, in the background, when sessions and tokens were used and which attempts were refused.
package accounts

import (
	"context"
	"log/slog"
	"time"

	"linkwatch/jobs"
	"linkwatch/models/accounts"
)

const (
	flushInterval   = 5 * time.Second
	refreshInterval = time.Second
)

// New returns the service. It also detects the first account if another process adds it, such as the command user add.
func New(store *accounts.Store, log *slog.Logger) jobs.Service {
	return jobs.NewBackground(func(taking, working context.Context) {
		flush, refresh := time.NewTicker(flushInterval), time.NewTicker(refreshInterval)
		defer flush.Stop()
		defer refresh.Stop()
		for {
			var err error
			select {
			case <-taking.Done():
				if err := store.Flush(working); err != nil {
					log.ErrorContext(working, "account usage not stored", "error", err)
				}
				return
			case <-flush.C:
				err = store.Flush(working)
			case <-refresh.C:
				if err = store.RefreshInUse(working); store.InUse() {
					refresh.Stop()
				}
			}
			if err != nil && working.Err() == nil {
				log.ErrorContext(working, "account background work failed", "error", err)
			}
		}
	})
}
