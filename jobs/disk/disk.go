// Package disk is the scheduled job that fails while a disk is filling, so that its
// failure is seen and told like that of any other job.
package disk

import (
	"context"
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"

	"linkwatch/jobs"
	"linkwatch/models/disk"
)

// every is how often the disks are looked at. A disk fills in hours, or in minutes by a
// mistake.
const every = "@every 1m"

// Disk is the job.
func Disk(look disk.Look) jobs.Job {
	return jobs.Job{ID: "disk", Schedule: every, Run: func(context.Context, context.Context) (summary string, err error) {
		var all []error
		for _, s := range look.Filling() {
			all = append(all, fmt.Errorf("the disk of the %s is %d%% full: %s left. Free some space before nothing can be stored", s.Of, s.Used(), humanize.Bytes(s.Free)))
		}
		return "enough space is free", errors.Join(all...)
	}}
}
