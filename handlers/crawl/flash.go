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

// The parameters that make a page say what was just done.
const (
	paramAdded         = "job_added"      // id of a job that was just added with its source
	paramKept          = "job_kept"       // the same, if its source was there before and differs from what was typed
	paramRefused       = "job_refused"    // id of a job whose status did not allow an action
	paramDeleted       = "job_deleted"    // id of a job that was just deleted
	paramSourceDeleted = "source_deleted" // id of a source that was just deleted
	paramFinds         = "finds"          // what became of URLs that were just saved or watched, see keep
	paramLinksDeleted  = "links_deleted"  // when discovered links were just deleted, in microseconds since 1970
	paramPagesDeleted  = "pages_deleted"  // when crawled pages were just deleted, in microseconds
	paramMoved         = "jobs_moved"     // how many jobs a rebalance just moved
)

// Flashes are what pages say after actions on crawls.
func (p Pages) Flashes() pages.Flash {
	return pages.Flash{
		Params: []string{paramAdded, paramKept, paramRefused, paramDeleted, paramSourceDeleted, paramFinds, paramLinksDeleted, paramPagesDeleted, paramMoved},
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
			"entries_deleted":               {Text: "Deleted. Crawls that run do not fetch the URL. The next crawl may find it again."},
			"entries_retried":               {Text: "The URLs are fetched again within moments."},
			"entries_stay":                  {Text: "Nothing was retried: only failed URLs of crawls that run can be.", Bad: true},
			"finds_none":                    {Text: "Nothing to do: no row was selected.", Bad: true},
			"pages_restored":                {Text: "Restored."},
			"pages_gone":                    {Text: "Could not undo: the pages are back already, or were deleted too long ago.", Bad: true},
			"discovered_restored":           {Text: "Restored."},
			"discovered_gone":               {Text: "Could not undo: the links are back already, or were deleted too long ago.", Bad: true},
			"feed_added":                    {Text: "Added. What is new in the feed is fetched when it is polled."},
			"feed_known":                    {Text: "The source has this feed already. Nothing was changed."},
			"feed_polled":                   {Text: "The feed is polled within a minute."},
			"feed_deleted":                  {Text: "The feed is deleted. It comes back when a crawl finds it again."},
		},
	}
}

func (p Pages) flash(c *gin.Context, here string) (f ui.Flash, found bool, err error) {
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
	if f, ok := keptFlash(c.Query(paramFinds)); ok {
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
			Text:   "Deleted. A page comes back when a crawl fetches it again.",
			Action: ui.Action{Label: "Undo", Path: "/crawl/pages/restore", Name: "deleted_at", Value: strconv.FormatInt(us, 10), Back: here},
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

// linksDeletedFlash offers to restore the discovered links that were deleted at a time;
// it is empty if that was undone.
func (p Pages) linksDeletedFlash(c *gin.Context, us int64, here string) (ui.Flash, error) {
	d, err := p.Crawl.DeletedAt(c.Request.Context(), models.At(time.UnixMicro(us)))
	if err != nil || d.N == 0 {
		return ui.Flash{}, err
	}
	return ui.Flash{
		Text:   ui.Plural(d.N, "link") + " deleted. A link comes back when a crawl finds it again.",
		Action: ui.Action{Label: "Undo", Path: "/crawl/discovered/restore", Name: "deleted_at", Value: strconv.FormatInt(us, 10), Back: here},
	}, nil
}

// movedFlash says what a rebalance did.
func movedFlash(n int) ui.Flash {
	if n <= 0 {
		return ui.Flash{Text: "No job was moved: the schedule has changed meanwhile."}
	}
	return ui.Flash{Text: ui.Plural(n, "job") + " moved."}
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
