package targets

import (
	"sync"
	"time"

	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/targets"
)

// running has the checks in progress.
type running struct {
	mu     sync.Mutex
	checks map[*check]struct{}
}

func (r *running) add(c *check) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.checks == nil {
		r.checks = map[*check]struct{}{}
	}
	r.checks[c] = struct{}{}
}

func (r *running) remove(c *check) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.checks, c)
}

// long returns the start times of checks that take long, by the key of the target. It
// returns each once.
func (r *running) long(holder lease.ID) map[int64]models.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	var at map[int64]models.Time
	for c := range r.checks {
		if c.ClaimedBy != holder { // its lease was lost, and it may have been dropped
			delete(r.checks, c)
			continue
		}
		if c.long || time.Since(c.monotonicStart) < targets.LongCheck {
			continue
		}
		if at == nil {
			at = map[int64]models.Time{}
		}
		c.long = true
		at[c.Seq] = c.startedAt
	}
	return at
}
