package views

import (
	"net/url"
	"strings"
	"time"

	"linkwatch/models"
	"linkwatch/models/schedule"
	"linkwatch/views/ui"
)

// Jobs is the page of all scheduled jobs.
type Jobs struct {
	ui.Page
	Jobs    []schedule.Job
	Cleaned int64 // rows that the reaper has deleted so far
}

// Job is the page of one scheduled job with the history of its runs, newest
// first. Older says that these are not the newest ones.
type Job struct {
	ui.Page
	Job   schedule.Job
	Runs  models.Slice[schedule.Run]
	Older bool
}

// Setting is one line of the settings in force, secrets masked.
type Setting struct{ Name, Value, Default, Meaning string }

// Settings is the page of the settings in force.
type Settings struct {
	ui.Page
	Settings []Setting
}

// schedulePhrase says a schedule in words: "every minute", "every 15 minutes".
// One of cron's five fields stays as it is.
func schedulePhrase(schedule string) string {
	interval, ok := strings.CutPrefix(schedule, "@every ")
	d, err := time.ParseDuration(interval)
	if !ok || err != nil || d <= 0 {
		return schedule
	}
	return ui.Every(d)
}

func jobPath(id string) string { return "/admin/jobs/" + id }

func olderPath(id string, next models.Cursor) string {
	return jobPath(id) + "?" + url.Values{"page_token": {next.Token()}}.Encode()
}
