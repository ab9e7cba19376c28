package jobs

import (
	"context"
	"errors"
	"strings"
)

// Purge deletes the expired data of a system. It starts no further batch once
// taking has ended, and returns at once when working has. summary says what it
// deleted in a few words; "" = nothing worth mentioning.
type Purge func(taking, working context.Context) (summary string, err error)

// Retention is the job that runs the purges of all systems, one after another. If
// one fails, the others run all the same.
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
