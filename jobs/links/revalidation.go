// Package links does the background work of saved links: it rechecks them and
// refreshes them in bulk. models/links decides what a check means; this package
// decides when links are checked and how many at a time.
package links

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"linkwatch/jobs"
	"linkwatch/models"
	"linkwatch/models/links"
)

const (
	// checkBudget ends a run well before its first claims come due again (after ten minutes).
	checkBudget = 8 * time.Minute
	// Links of a host that has enough of them in the queue are put off by a
	// minute; if there are very many, each 500 of them by a minute more, so
	// that not all of them are claimed anew each minute.
	putOffFor      = time.Minute
	putOffTogether = 500
	putOffMost     = 10 * time.Minute
)

// Revalidation is the job that rechecks links that are due, with a fixed number of
// workers and at most one request per host. A host that hangs or has very many
// links delays only its own links. Links that a run has claimed but not checked
// are due again when it ends, or after ten minutes if it was killed.
func Revalidation(store *links.Store, workers int) jobs.Job {
	return jobs.Job{ID: "revalidation", Schedule: "@every 1m", Run: func(taking, working context.Context) (string, error) {
		r := &revalidation{store: store, found: map[links.Health]int{}}
		d := &dispatcher[links.Link]{
			workers: workers, host: func(l links.Link) string { return models.HostPort(l.CanonicalURL) },
			claim: store.Claim, refuse: r.putOff, work: r.check, release: r.release,
		}
		inBudget, cancel := context.WithTimeout(taking, checkBudget)
		defer cancel()
		err := d.run(inBudget, working)
		if taking.Err() != nil {
			return r.summary() + ", interrupted", err
		}
		return r.summary(), err
	}}
}

// revalidation is one run of the job.
type revalidation struct {
	store *links.Store
	late  int // links that were put off

	mu      sync.Mutex
	checked int
	found   map[links.Health]int
}

// check looks at a link and counts what became of it. A link that was deleted
// meanwhile is no error.
func (r *revalidation) check(ctx context.Context, l links.Link) error {
	now, err := r.store.Check(ctx, l)
	switch {
	case models.CodeOf(err) == models.CodeNotFound:
		return nil
	case err != nil:
		return fmt.Errorf("checking links: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checked++
	r.found[now.Health]++
	return nil
}

// putOff lets links come due again after others had their turn.
func (r *revalidation) putOff(ctx context.Context, ls []links.Link) (more bool, err error) {
	delay := min(putOffFor*time.Duration(1+r.late/putOffTogether), putOffMost)
	r.late += len(ls)
	return true, r.store.PutOff(ctx, delay, idsOf(ls)...)
}

func (r *revalidation) release(ctx context.Context, ls []links.Link) error {
	return r.store.PutOff(ctx, 0, idsOf(ls)...)
}

func idsOf(ls []links.Link) []string {
	ids := make([]string, len(ls))
	for i, l := range ls {
		ids[i] = l.ID
	}
	return ids
}

// summary is what the run did: "120 checked: 3 dead, 1 moved".
func (r *revalidation) summary() string {
	var parts []string
	for _, h := range []links.Health{links.Dead, links.Suspect, links.Moved, links.Blocked} {
		if n := r.found[h]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, h))
		}
	}
	s := fmt.Sprintf("%d checked", r.checked)
	if len(parts) > 0 {
		s += ": " + strings.Join(parts, ", ")
	}
	return s
}
