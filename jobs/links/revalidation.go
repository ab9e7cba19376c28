package links

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"linkwatch/jobs"
	"linkwatch/jobs/dispatch"
	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/links"
)

// checkBudget ends a run, so that what it did is told; the next one continues.
const checkBudget = 8 * time.Minute

// Revalidation is the job that rechecks links that are due, with a fixed number of
// workers and at most one request per host, under a lease that a Heartbeat keeps. A
// host that hangs or has very many links delays only its own links. Links that a run
// has claimed but not checked are due again when it ends. First it finishes renames
// of tags that were interrupted.
func Revalidation(store *links.Store, held *lease.Lease, workers int, log *slog.Logger) jobs.Job {
	return jobs.Job{ID: "revalidation", Schedule: "@every 1m", Run: func(taking, working context.Context) (string, error) {
		renamed := store.FinishRenames(working)
		r := revalidation{found: map[links.Health]int{}}
		q := &queue[links.Claimed, links.Checked]{
			store: store, log: log,
			claim: store.Claim, release: store.Release, releaseOthers: store.ReleaseOthers,
			look: func(ctx context.Context, l links.Claimed) (links.Checked, time.Duration, error) {
				c, err := store.Check(ctx, l)
				return c, c.Wait, err
			},
			finish: func(ctx context.Context, done ...links.Checked) error {
				stored, err := store.Record(ctx, done...)
				r.count(stored)
				return err
			},
			link: func(l links.Claimed) (links.Link, models.Time) { return l.Link, l.NextCheckAt },
		}
		inBudget, cancel := context.WithTimeout(taking, checkBudget)
		defer cancel()
		err := q.run(inBudget, working, dispatch.Options{Name: "rechecks", Lease: held, Workers: workers, Drain: true})
		summary := r.String()
		if taking.Err() != nil {
			summary += ", interrupted"
		}
		return summary, errors.Join(renamed, err)
	}}
}

// revalidation is what one run did.
type revalidation struct {
	checked int
	found   map[links.Health]int
}

func (r *revalidation) count(ls []links.Link) {
	r.checked += len(ls)
	for _, l := range ls {
		r.found[l.Health]++
	}
}

// String is for the page of jobs: "120 checked: 3 dead, 1 moved".
func (r *revalidation) String() string {
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
