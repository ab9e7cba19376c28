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

// checkBudget is the maximum duration of a run, so that results are reported. The next run continues.
const checkBudget = 8 * time.Minute

// Revalidation returns the job that rechecks due links, with a number of workers and at most one request per host.
// It claims links as holder, whose lease a Heartbeat renews. A slow host, or one with many links, delays only its
// own links. When a run ends, it releases claimed links that it has not checked. A run first indexes
// the links that an upgrade or an interrupted rename of a tag left to it.
func Revalidation(store *links.Store, holder *lease.Lease, workers int, log *slog.Logger) jobs.Job {
	return jobs.Job{ID: "revalidation", Schedule: "@every 1m", Run: func(taking, working context.Context) (string, error) {
		indexed := store.FinishIndexing(working)
		r := revalidation{byHealth: map[links.Health]int{}}
		q := &queue[links.Claimed, links.Checked]{
			store: store, log: log,
			claim: store.Claim, release: store.Release, releaseOthers: store.ReleaseOthers,
			request: func(ctx context.Context, l links.Claimed) (links.Checked, time.Duration, error) {
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
		err := q.run(inBudget, working, dispatch.Options{Name: "rechecks", Lease: holder, Workers: workers, Drain: true})
		summary := r.String()
		if taking.Err() != nil {
			summary += ", interrupted"
		}
		return summary, errors.Join(indexed, err)
	}}
}

// revalidation counts the results of a run.
type revalidation struct {
	checked  int
	byHealth map[links.Health]int
}

func (r *revalidation) count(ls []links.Link) {
	r.checked += len(ls)
	for _, l := range ls {
		r.byHealth[l.Health]++
	}
}

// String is the summary on the jobs page: "120 checked: 3 dead, 1 moved".
func (r *revalidation) String() string {
	var parts []string
	for _, h := range []links.Health{links.Dead, links.Suspect, links.Moved, links.Blocked} {
		if n := r.byHealth[h]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, h))
		}
	}
	s := fmt.Sprintf("%d checked", r.checked)
	if len(parts) > 0 {
		s += ": " + strings.Join(parts, ", ")
	}
	return s
}
