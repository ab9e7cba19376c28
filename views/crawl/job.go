package crawl

import (
	"net/url"
	"strconv"

	"github.com/a-h/templ"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/views/ui"
)

// Job is the page of one job.
type Job struct {
	ui.Page
	Place    JobPlace
	Job      crawl.Job
	Source   crawl.Source
	Stats    crawl.JobStats
	Runs     models.Slice[crawl.Execution]
	Run      crawl.Execution // whose progress and log are shown; the zero one = the job has not run
	Lines    []crawl.Line    // the end of its log
	Edit     JobForm
	Settings SourceForm
	Actions  []templ.Component // of other systems: buttons beside the page's own
	Aside    []templ.Component // of other systems: sections below the facts
}

// JobPlace is what the page of a job shows.
type JobPlace struct {
	ID        string
	Execution string // whose progress and log are shown; "" = the newest
	Token     string // of the page of executions; "" = the newest
}

// Path is the address of the place.
func (p JobPlace) Path() string {
	q := url.Values{}
	ui.SetFilters(q, map[string]string{"execution": p.Execution, "page_token": p.Token})
	return ui.WithQuery(jobPath(p.ID), q)
}

func (p JobPlace) withExecution(id string) JobPlace { p.Execution = id; return p }
func (p JobPlace) after(c models.Cursor) JobPlace   { p.Token = c.Token(); return p }

// running reports whether the execution that is shown is running.
func (v Job) running() bool { return v.Run.Status == crawl.ExecutionRunning }

// polls are how often the page asks what has changed.
func (v Job) polls() templ.Attributes {
	if v.Place.Token != "" {
		return nil
	}
	often := "every 5s"
	if v.running() {
		often = "every 2s"
	}
	return templ.Attributes{"hx-get": v.Place.Path(), "hx-trigger": often, "hx-swap": "outerMorph", "hx-sync": "this:abort"}
}

// logPath is the address of the log of the execution that is shown, as file or as
// events.
func (v Job) logPath(file string) string {
	return jobPath(v.Job.ID) + "/" + file + "?execution_id=" + v.Run.ID
}

// LineID is what a line of the log of an execution is resumed after, see the page's
// stream of events.
func LineID(e crawl.Execution, number int) string {
	return strconv.Itoa(e.ExecutionNumber) + "-" + strconv.Itoa(number)
}

// lastLine is the LineID of the last line that is shown.
func (v Job) lastLine() string {
	if len(v.Lines) == 0 {
		return ""
	}
	return LineID(v.Run, v.Lines[len(v.Lines)-1].Number)
}

// success is the share of runs that completed: "92.31%".
func success(s crawl.JobStats) string {
	if rate, ok := s.SuccessRate(); ok {
		return ui.Percent(rate)
	}
	return "–"
}

// figure is a number with its word.
type figure struct{ word, value string }

// figures are the progress of the execution that is shown.
func (v Job) figures() []figure {
	e := v.Run
	return []figure{
		{"fetched", ui.Count(e.Fetched)}, {"queued", ui.Count(e.Queued)}, {"failed", ui.Count(e.Failed)},
		{ui.Noun(e.ItemsCrawled, "page") + " stored", ui.Count(e.ItemsCrawled)}, {"pages per second", speed(e, v.Now)},
		{"elapsed", ui.Lasted(e.Duration(models.At(v.Now)))},
	}
}

// JobCancel is the page that asks before a job is cancelled.
type JobCancel struct {
	ui.Page
	Job crawl.Job
}
