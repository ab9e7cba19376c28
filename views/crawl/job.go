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
	Run      crawl.Execution // the run whose progress and log are shown; zero = the job has not run
	Lines    []crawl.LogLine // the last lines of its log
	Edit     JobForm
	Settings SourceForm
	Actions  []templ.Component // buttons of other systems
	Aside    []templ.Component // sections of other systems, below the facts
}

// JobPlace identifies what the page of a job shows.
type JobPlace struct {
	ID        string
	Execution string // the run whose progress and log are shown; "" = the newest
	Token     string // of the page of runs; "" = the newest
}

// Path returns the path of the page.
func (p JobPlace) Path() string {
	q := url.Values{}
	ui.SetFilters(q, map[string]string{"execution": p.Execution, "page_token": p.Token})
	return ui.WithQuery(jobPath(p.ID), q)
}

func (p JobPlace) withExecution(id string) JobPlace { p.Execution = id; return p }
func (p JobPlace) after(c models.Cursor) JobPlace   { p.Token = c.Token(); return p }

// running reports whether the shown run is still running.
func (v Job) running() bool { return v.Run.Status == crawl.ExecutionRunning }

// polling makes htmx refresh the page: every 2 s while the run is running, else every 5 s.
func (v Job) polling() templ.Attributes {
	if v.Place.Token != "" {
		return nil
	}
	interval := "every 5s"
	if v.running() {
		interval = "every 2s"
	}
	return templ.Attributes{"hx-get": v.Place.Path(), "hx-trigger": interval, "hx-swap": "outerMorph", "hx-sync": "this:abort"}
}

// logPath returns the path of the log of the shown run, as a file or an event stream.
func (v Job) logPath(file string) string {
	return jobPath(v.Job.ID) + "/" + file + "?execution_id=" + v.Run.ID
}

// LineID is the event id of a log line, from which the event stream resumes.
func LineID(e crawl.Execution, number int) string {
	return strconv.Itoa(e.ExecutionNumber) + "-" + strconv.Itoa(number)
}

// lastLine is the LineID of the last shown line.
func (v Job) lastLine() string {
	if len(v.Lines) == 0 {
		return ""
	}
	return LineID(v.Run, v.Lines[len(v.Lines)-1].Number)
}

// successRate formats the share of completed runs: "92.31%".
func successRate(s crawl.JobStats) string {
	if rate, ok := s.SuccessRate(); ok {
		return ui.Percent(rate)
	}
	return "–"
}

type figure struct{ label, value string }

// figures returns the progress of the shown run.
func (v Job) figures() []figure {
	e := v.Run
	return []figure{
		{"succeeded", ui.Count(e.Fetched)}, {"queued", ui.Count(e.Queued)}, {"failed", ui.Count(e.Failed)},
		{ui.Noun(e.ItemsCrawled, "page") + " crawled", ui.Count(e.ItemsCrawled)}, {"pages per second", pagesPerSecond(e, v.Now)},
		{"elapsed", ui.LongDuration(e.Duration(models.At(v.Now)))},
	}
}

// JobCancel is the confirmation page for canceling a job.
type JobCancel struct {
	ui.Page
	Job crawl.Job
}
