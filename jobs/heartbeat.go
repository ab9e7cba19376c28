package jobs

import (
	"context"
	"log/slog"
	"time"

	"linkwatch/models/lease"
)

// leaveTime is for ending the lease when the time to stop is already over.
const leaveTime = 300 * time.Millisecond

// NewHeartbeat makes the service that keeps the lease of this instance. Start it
// before all services that claim, and stop it after them: stopping ends the lease,
// which frees whatever they still hold.
func NewHeartbeat(held *lease.Lease, log *slog.Logger) Service {
	return NewBackground(func(taking, working context.Context) {
		for failed := false; ; {
			err := beatOnce(taking, held)
			if err != nil && !failed && taking.Err() == nil {
				LogError(log, "heartbeat failed", err)
			}
			failed = err != nil
			select {
			// After the last Beat, also if that was slow: looks at other instances must
			// not follow each other sooner.
			case <-time.After(lease.Heartbeat):
				continue
			case <-taking.Done():
			}
			if err := leave(working, held); err != nil {
				LogError(log, "claims stay until other instances free them", err)
			}
			return
		}
	})
}

// leave ends the lease, for which there is time until leaveTime after the end of
// working.
func leave(working context.Context, held *lease.Lease) error {
	ctx, cancel := context.WithCancel(context.WithoutCancel(working))
	defer cancel()
	defer context.AfterFunc(working, func() { time.AfterFunc(leaveTime, cancel) })()
	return held.End(ctx)
}

// beatOnce gives up in time for the next heartbeats.
func beatOnce(ctx context.Context, held *lease.Lease) error {
	ctx, cancel := context.WithTimeout(ctx, lease.Duration)
	defer cancel()
	return held.Beat(ctx)
}
