package admin

import (
	"net/url"

	"linkwatch/models"
	"linkwatch/models/schedule"
	"linkwatch/views/ui"
)

// Job is the page of a scheduled job with its runs, newest first. Older is true on all pages but the
// first.
type Job struct {
	ui.Page
	Job   schedule.Job
	Runs  models.Slice[schedule.Run]
	Older bool
}

func olderPath(id string, next models.Cursor) string {
	return jobPath(id) + "?" + url.Values{"page_token": {next.Token()}}.Encode()
}
