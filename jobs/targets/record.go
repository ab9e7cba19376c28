package targets

import (
	"context"
	"time"

	"linkwatch/jobs"
	"linkwatch/models/targets"
)

const (
	// A batch is stored when it is full, or this long after its first check. A
	// commit costs about as much as some dozen checks in it.
	recordBatch = 512
	recordAfter = 100 * time.Millisecond
)

// record stores finished checks, many in one transaction, until finished is
// closed and all are stored. It rings after each batch.
func (c *Checker) record(working context.Context, finished <-chan *targets.Checked, recorded chan<- struct{}) {
	batch := make([]targets.Checked, 0, recordBatch)
	for first := range finished {
		batch = append(batch[:0], *first)
		full := time.NewTimer(recordAfter)
	gather:
		for len(batch) < recordBatch {
			select {
			case next, open := <-finished:
				if !open {
					break gather
				}
				batch = append(batch, *next)
			case <-full.C:
				break gather
			}
		}
		full.Stop()
		c.keepTrying(working, batch)
		c.unrecorded.Add(int64(-len(batch)))
		clear(batch) // the targets in it are large
		select {
		case recorded <- struct{}{}:
		default: // it rings already
		}
	}
}

// keepTrying stores a batch. While the store fails it tries again, so that no check
// was in vain; no more are claimed meanwhile than fit into memory. Only when
// the program's grace is over it gives up.
func (c *Checker) keepTrying(working context.Context, batch []targets.Checked) {
	for failed := false; ; failed = true {
		over := working.Err() != nil
		ctx, cancel := detached(working)
		err := c.store.Record(ctx, c.id, batch...)
		cancel()
		switch {
		case err == nil:
			if failed {
				c.log.Info("checks are recorded again")
			}
			return
		case over:
			c.log.Error("checks are lost", "error", err, "checks", len(batch))
			return
		case !failed:
			jobs.LogError(c.log, "recording checks, until it succeeds", err)
		}
		select {
		case <-working.Done():
		case <-time.After(storePause):
		}
	}
}
