package crawl

import (
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/crawl"
	views "linkwatch/views/crawl"
	"linkwatch/views/ui"
)

// The query parameters that make a page report an action.
const (
	paramAdded         = "job_added"      // id of a job that was added
	paramRefused       = "job_refused"    // id of a job whose status does not allow the action
	paramDeleted       = "job_deleted"    // id of a deleted job
	paramSourceDeleted = "source_deleted" // id of a deleted source
	paramSaved         = "saved_urls"     // result of saving or watching URLs, see saveURLs
	paramLinksDeleted  = "links_deleted"  // time when discovered links were deleted, in microseconds since 1970
	paramPagesDeleted  = "pages_deleted"  // time when crawled pages were deleted, in microseconds since 1970
	paramMoved         = "jobs_moved"     // number of jobs that a rebalance moved
)

// Flashes returns the messages that pages show after actions on crawls.
func (p Pages) Flashes() pages.Flash {
	return pages.Flash{
		Params: []string{paramAdded, paramRefused, paramDeleted, paramSourceDeleted, paramSaved, paramLinksDeleted, paramPagesDeleted, paramMoved},
		Read:   p.flash,
		Notices: map[string]ui.Flash{
			"job_" + string(crawl.Pause):    {Text: "Job paused. It does not run until you resume it."},
			"job_" + string(crawl.Resume):   {Text: "Job resumed."},
			"job_" + string(crawl.Retry):    {Text: "The retry starts in a few seconds."},
			"job_" + string(crawl.ForceRun): {Text: "The run starts in a few seconds."},
			"job_" + string(crawl.RunAgain): {Text: "Job added. Its first run starts in a few seconds."},
			"job_" + string(crawl.Stop):     {Text: "Run stopped. A recurring job runs again as planned."},
			"job_" + string(crawl.Cancel):   {Text: "Job cancelled. It does not run again."},
			"job_restored":                  {Text: "Job restored."},
			"source_saved":                  {Text: "Source saved. Running crawls use the new settings for their next requests."},
			"source_restored":               {Text: "Source and jobs restored."},
			"entry_added":                   {Text: "URL added. It is fetched in a few seconds. Its links are not followed."},
			"entry_known":                   {Text: "This URL is already in the frontier."},
			"entries_deleted":               {Text: "Deleted from the frontier. The next crawl may find the URLs again."},
			"entries_retried":               {Text: "The URLs are fetched again in a few seconds."},
			"entries_not_retried":           {Text: "Nothing was retried. Only failed URLs of running crawls can be retried.", Bad: true},
			"none_selected":                 {Text: "Nothing selected. Select at least one row.", Bad: true},
			"pages_restored":                {Text: "Pages restored."},
			"pages_gone":                    {Text: "Could not undo: the pages are already restored, or were deleted too long ago.", Bad: true},
			"discovered_restored":           {Text: "Links restored."},
			"discovered_gone":               {Text: "Could not undo: the links are already restored, or were deleted too long ago.", Bad: true},
			"feed_added":                    {Text: "Feed added. New entries are fetched at the next poll."},
			"feed_known":                    {Text: "The source already has this feed."},
			"feed_polled":                   {Text: "The feed is polled within a minute."},
			"feed_deleted":                  {Text: "Feed deleted. A crawl that finds it again adds it again."},
		},
	}
}

func (p Pages) flash(c *gin.Context, here string) (f ui.Flash, found bool, err error) {
	if id := c.Query(paramDeleted); models.CheckID(models.KindJob, id) == nil {
		return ui.Flash{
			Text:   "Job deleted. A running crawl stops.",
			Action: ui.Action{Label: "Undo", Path: "/crawl/jobs/" + id + "/restore"},
		}, true, nil
	}
	if id := c.Query(paramSourceDeleted); models.CheckID(models.KindSource, id) == nil {
		return ui.Flash{
			Text:   "Source and jobs deleted.",
			Action: ui.Action{Label: "Undo", Path: "/crawl/sources/" + id + "/restore"},
		}, true, nil
	}
	if f, ok := savedFlash(c.Query(paramSaved)); ok {
		return f, true, nil
	}
	if n, err := strconv.Atoi(c.Query(paramMoved)); err == nil {
		return movedFlash(n), true, nil
	}
	if us, err := strconv.ParseInt(c.Query(paramLinksDeleted), 10, 64); err == nil {
		f, err := p.linksDeletedFlash(c, us, here)
		return f, true, err
	}
	if us, err := strconv.ParseInt(c.Query(paramPagesDeleted), 10, 64); err == nil {
		return ui.Flash{
			Text:   "Deleted. A crawl that fetches a page again adds it again.",
			Action: ui.Action{Label: "Undo", Path: "/crawl/pages/restore", Name: "deleted_at", Value: strconv.FormatInt(us, 10), Back: here},
		}, true, nil
	}
	for _, param := range []string{paramAdded, paramRefused} {
		if id := c.Query(param); id != "" {
			j, err := p.Crawl.Job(c.Request.Context(), id)
			if models.CodeOf(err) == models.CodeNotFound {
				return ui.Flash{}, true, nil
			}
			return jobFlash(j, param, p.Crawl.Now()), true, err
		}
	}
	return ui.Flash{}, false, nil
}

// linksDeletedFlash offers to restore the discovered links that were deleted at a time. It is
// empty if they are restored already.
func (p Pages) linksDeletedFlash(c *gin.Context, us int64, here string) (ui.Flash, error) {
	d, err := p.Crawl.DeletionAt(c.Request.Context(), models.At(time.UnixMicro(us)))
	if err != nil || d.N == 0 {
		return ui.Flash{}, err
	}
	return ui.Flash{
		Text:   ui.Plural(d.N, "link") + " deleted. A crawl that finds a link again adds it again.",
		Action: ui.Action{Label: "Undo", Path: "/crawl/discovered/restore", Name: "deleted_at", Value: strconv.FormatInt(us, 10), Back: here},
	}, nil
}

// movedFlash reports the result of a rebalance.
func movedFlash(n int) ui.Flash {
	if n <= 0 {
		return ui.Flash{Text: "No jobs were moved. The schedule has changed since the preview."}
	}
	return ui.Flash{Text: ui.Plural(n, "job") + " moved."}
}

func jobFlash(j crawl.Job, param string, now models.Time) ui.Flash {
	if param == paramRefused {
		return ui.Flash{Text: "Nothing was changed: the job is " + string(j.Status) + ".", Bad: true}
	}
	return ui.Flash{Text: "Added " + j.Title() + ". " + firstRun(j, now), Link: ui.Link{Label: "Details", Path: views.JobPlace{ID: j.ID}.Path()}}
}

// firstRun describes when a new job first runs.
func firstRun(j crawl.Job, now models.Time) string {
	switch {
	case j.SourceDisabled:
		return "It does not run because its source is disabled."
	case j.NextRunAt.After(now.Time):
		return "The first run starts in " + ui.LongDuration(j.NextRunAt.Sub(now.Time)) + "."
	}
	return "The first run starts in a few seconds."
}
