// Package admin contains the pages of scheduled jobs, cleanup and settings.
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
	Cleaned int64 // total number of rows deleted by the reaper
	Backups *Backups
	Disks   []disk.Space
}

// Backups is the state of the scheduled backups.
type Backups struct {
	Newest backup.File   // zero = none
	Late   bool          // the newest is older than two intervals
	Failed bool          // the folder is not readable
	Future []backup.File // with a time in the future in their name, latest first
	Keep   int
}

// schedulePhrase formats a schedule: "every minute", "every 15 minutes". Cron expressions are
// unchanged.
func schedulePhrase(schedule string) string {
	interval, ok := strings.CutPrefix(schedule, "@every ")
	d, err := time.ParseDuration(interval)
	if !ok || err != nil || d <= 0 {
		return schedule
	}
	return ui.Every(d)
}

func jobPath(id string) string { return "/admin/jobs/" + id }
