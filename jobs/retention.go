package jobs

import (
	"context"
	"errors"
	"strings"
)

// Purge deletes what a system keeps only for a while. It begins nothing further
// once taking has ended, and returns at once when working has. summary says
// what it did in a few words; "" = nothing worth saying.
type Purge func(taking, working context.Context) (summary string, err error)

// Retention is the job that lets each system delete what it no longer keeps.
// One that fails keeps the others from nothing.
func Retention(purges ...Purge) Job {
	return Job{ID: "retention", Schedule: "@every 1h", Run: func(taking, working context.Context) (string, error) {
		var did []string
		var errs []error
		for _, purge := range purges {
			if taking.Err() != nil {
				break
			}
			summary, err := purge(taking, working)
			if summary != "" {
				did = append(did, summary)
			}
			errs = append(errs, err)
		}
		return strings.Join(did, ", "), errors.Join(errs...)
	}}
}
