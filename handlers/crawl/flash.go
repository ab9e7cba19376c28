package crawl

import (
	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/crawl"
	views "linkwatch/views/crawl"
	"linkwatch/views/ui"
)

// The parameters that make a page say what was just done.
const (
	paramAdded         = "job_added"      // id of a job that was just added with its source
	paramKept          = "job_kept"       // the same, if its source was there before and differs from what was typed
	paramRefused       = "job_refused"    // id of a job whose status did not allow an action
	paramDeleted       = "job_deleted"    // id of a job that was just deleted
	paramSourceDeleted = "source_deleted" // id of a source that was just deleted
)

// Flashes are what pages say after actions on crawls.
func (p Pages) Flashes() pages.Flash {
	return pages.Flash{
		Params: []string{paramAdded, paramKept, paramRefused, paramDeleted, paramSourceDeleted},
		Read:   p.flash,
		Notices: map[string]ui.Flash{
			"job_" + string(crawl.Pause):    {Text: "Paused. It does not run until you resume it."},
			"job_" + string(crawl.Resume):   {Text: "Resumed."},
			"job_" + string(crawl.Retry):    {Text: "The retry starts within moments."},
			"job_" + string(crawl.ForceRun): {Text: "The run starts within moments."},
			"job_" + string(crawl.Cancel):   {Text: "Cancelled. It does not run again."},
			"job_restored":                  {Text: "The job is restored, with its executions."},
			"source_saved":                  {Text: "The source is saved. Running crawls use it from their next pages on."},
			"source_restored":               {Text: "The source is restored, with its jobs."},
			"entry_added":                   {Text: "Added. The URL is fetched within moments; its links are not followed."},
			"entry_known":                   {Text: "This URL is in the frontier already. Nothing was changed."},
			"entry_deleted":                 {Text: "Deleted. This crawl does not fetch the URL. The next crawl may find it again."},
			"discovered_deleted":            {Text: "Deleted. The link comes back when a crawl finds it again."},
		},
	}
}

func (p Pages) flash(c *gin.Context, _ string) (f ui.Flash, found bool, err error) {
	if id := c.Query(paramDeleted); models.CheckID(models.KindJob, id) == nil {
		return ui.Flash{
			Text:   "The job is deleted. A crawl that was running ends.",
			Action: ui.Action{Label: "Undo", Path: "/crawl/jobs/" + id + "/restore"},
		}, true, nil
	}
	if id := c.Query(paramSourceDeleted); models.CheckID(models.KindSource, id) == nil {
		return ui.Flash{
			Text:   "The source is deleted with its jobs.",
			Action: ui.Action{Label: "Undo", Path: "/crawl/sources/" + id + "/restore"},
		}, true, nil
	}
	for _, param := range []string{paramAdded, paramKept, paramRefused} {
		if id := c.Query(param); id != "" {
			j, err := p.Crawl.Job(c.Request.Context(), id)
			if models.CodeOf(err) == models.CodeNotFound {
				return ui.Flash{}, true, nil
			}
			return flashOf(j, param, p.Crawl.Now()), true, err
		}
	}
	return ui.Flash{}, false, nil
}

func flashOf(j crawl.Job, param string, now models.Time) ui.Flash {
	if param == paramRefused {
		return ui.Flash{Text: "Nothing was changed, because the job is " + string(j.Status) + " now.", Bad: true}
	}
	f := ui.Flash{Text: "Added " + j.SourceName + ". " + firstRun(j, now), Link: ui.Link{Label: "Details", Path: views.JobPlace{ID: j.ID}.Path()}}
	if param == paramKept {
		f.Text += " Its source was there before and keeps its settings."
	}
	return f
}

// firstRun says when a new job runs first.
func firstRun(j crawl.Job, now models.Time) string {
	switch {
	case j.Held:
		return "It does not run, because its source is disabled."
	case j.NextRunAt.After(now.Time):
		return "Its first run starts in " + ui.Lasted(j.NextRunAt.Sub(now.Time)) + "."
	}
	return "Its first run starts within moments."
}
