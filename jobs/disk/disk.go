// Package disk implements the scheduled job that fails while a disk is nearly full. So a
// full disk is shown and alerted on like the failure of any other job.
package disk

import (
	"context"
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"

	"linkwatch/jobs"
	"linkwatch/models/disk"
)

// interval is the schedule of the check. A disk usually fills in hours, but by a mistake in minutes.
const interval = "@every 1m"

// Disk returns the job.
func Disk(look disk.Look) jobs.Job {
	return jobs.Job{ID: "disk", Schedule: interval, Run: func(context.Context, context.Context) (summary string, err error) {
		var all []error
		for _, s := range look.Filling() {
			all = append(all, fmt.Errorf("disk of the %s is %d%% full (%s left): free some space", s.Of, s.Used(), humanize.Bytes(s.Free)))
		}
		return "enough free space", errors.Join(all...)
	}}
}
