package jobs

import (
	"context"
	"log/slog"
	"time"

	"linkwatch/models/lease"
)

// leaveTime is for ending the lease when the program stops.
const leaveTime = 300 * time.Millisecond

// NewHeartbeat makes the service that keeps the lease of this instance. Start it
// before all services that claim, and stop it after them: stopping ends the lease,
// which frees whatever they still hold.
func NewHeartbeat(held *lease.Lease, log *slog.Logger) Service {
	return NewBackground(func(taking, _ context.Context) {
		beat := time.NewTicker(lease.Heartbeat)
		defer beat.Stop()
		for failed := false; ; {
			err := beatOnce(taking, held)
			if err != nil && !failed && taking.Err() == nil {
				LogError(log, "lease not renewed", err)
			}
			failed = err != nil
			select {
			case <-beat.C:
				continue
			case <-taking.Done():
			}
			ctx, cancel := context.WithTimeout(context.WithoutCancel(taking), leaveTime)
			defer cancel()
			if err := held.End(ctx); err != nil {
				LogError(log, "claims stay until other instances free them", err)
			}
			return
		}
	})
}

// beatOnce gives up in time for the next heartbeats.
func beatOnce(ctx context.Context, held *lease.Lease) error {
	ctx, cancel := context.WithTimeout(ctx, lease.Duration)
	defer cancel()
	return held.Beat(ctx)
}
