// Package accounts writes down in the background what requests found about accounts: when
// sessions and tokens were used, and attempts that were refused.
package accounts

import (
	"context"
	"log/slog"
	"time"

	"linkwatch/jobs"
	"linkwatch/models/accounts"
)

const (
	flushEvery = 5 * time.Second
	lookEvery  = time.Second
)

// New makes the service. It also finds out when another process, such as the command
// user add, has added the first account.
func New(store *accounts.Store, log *slog.Logger) jobs.Service {
	return jobs.NewBackground(func(taking, working context.Context) {
		flush, look := time.NewTicker(flushEvery), time.NewTicker(lookEvery)
		defer flush.Stop()
		defer look.Stop()
		for {
			var err error
			select {
			case <-taking.Done():
				if err := store.Flush(working); err != nil {
					log.ErrorContext(working, "uses of sessions and tokens not stored", "error", err)
				}
				return
			case <-flush.C:
				err = store.Flush(working)
			case <-look.C:
				if err = store.Look(working); store.InUse() {
					look.Stop()
				}
			}
			if err != nil && working.Err() == nil {
				log.ErrorContext(working, "uses of sessions and tokens not stored", "error", err)
			}
		}
	})
}
