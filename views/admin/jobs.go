// Package admin holds the pages of scheduled jobs, of the cleanup and of the
// settings: for each a struct with what it shows, and the component that shows
// it.
package admin

import (
	"strings"
	"time"

	"linkwatch/models/backup"
	"linkwatch/models/disk"
	"linkwatch/models/schedule"
	"linkwatch/views/ui"
)

// Jobs is the page of all scheduled jobs.
type Jobs struct {
	ui.Page
	Jobs    []schedule.Job
	Cleaned int64 // rows that the reaper has deleted so far
	Backups *Backups
	Disks   []disk.Space
}

// Backups is what the page says of scheduled backups.
type Backups struct {
	Newest backup.File   // zero: there is none
	Late   bool          // the newest is older than two intervals
	Failed bool          // the folder cannot be read
	Future []backup.File // with names later than now, the latest first
	Keep   int
}

// schedulePhrase is a schedule in words: "every minute", "every 15 minutes". A cron
// expression stays as it is.
func schedulePhrase(schedule string) string {
	interval, ok := strings.CutPrefix(schedule, "@every ")
	d, err := time.ParseDuration(interval)
	if !ok || err != nil || d <= 0 {
		return schedule
	}
	return ui.Every(d)
}

func jobPath(id string) string { return "/admin/jobs/" + id }
