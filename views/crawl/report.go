package crawl

import (
	"net/url"
	"strconv"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/views/ui"
)

// Report is the page of a run: changed pages and broken links.
type Report struct {
	ui.Page
	Place   ReportPlace
	Job     crawl.Job
	Run     crawl.Execution
	Changes models.Slice[crawl.PageChange]
	Broken  models.Slice[crawl.BrokenLink]
}

// ReportPlace identifies what the report shows. Its path can be bookmarked.
type ReportPlace struct {
	ID          string
	Change      crawl.Change // "" = all
	Token       string       // of the page of changes; "" = the first
	BrokenToken string       // of the page of broken links; "" = the first
}

// Path returns the path of the report.
func (p ReportPlace) Path() string {
	q := url.Values{}
	ui.SetFilters(q, map[string]string{"change": string(p.Change), "page_token": p.Token, "broken_token": p.BrokenToken})
	return ui.WithQuery("/crawl/executions/"+p.ID, q)
}

func (p ReportPlace) withChange(c crawl.Change) ReportPlace   { p.Change, p.Token = c, ""; return p }
func (p ReportPlace) after(c models.Cursor) ReportPlace       { p.Token = c.Token(); return p }
func (p ReportPlace) afterBroken(c models.Cursor) ReportPlace { p.BrokenToken = c.Token(); return p }

// csvPath returns the path of the broken links as a CSV file.
func (p ReportPlace) csvPath() string { return "/crawl/executions/" + p.ID + "/broken-links.csv" }

// ChangeSummary summarizes the changes of a run: "12 new, 3 changed, 2 gone".
func ChangeSummary(e crawl.Execution) string {
	return ui.Count(e.PagesNew) + " new, " + ui.Count(e.PagesChanged) + " changed, " + ui.Count(e.PagesGone) + " gone"
}

// pending reports whether the report is not complete yet.
func (v Report) pending() bool {
	return v.Run.Status == crawl.ExecutionRunning || v.Run.ReportedPage != nil
}

// unfinished says how a run ended that has no report.
var unfinished = map[crawl.ExecutionStatus]string{crawl.ExecutionFailed: "failed", crawl.ExecutionCancelled: "was cancelled"}

func (v Report) runTitle() string { return "Run " + strconv.Itoa(v.Run.ExecutionNumber) }

// changeChoice is a filter of the list of changes.
type changeChoice struct {
	change crawl.Change
	label  string
}

var changeChoices = []changeChoice{{"", "all"}, {crawl.PageNew, "new"}, {crawl.PageChanged, "changed"}, {crawl.PageGone, "gone"}, {crawl.PageBack, "back"}}
