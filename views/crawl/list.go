// Package crawl holds the pages of crawling. Each page is a struct with its data and a
// component that renders it.
package crawl

import (
	"net/url"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/views/ui"
)

// List is the page of all jobs, with the form that adds a job and the search.
type List struct {
	ui.Page
	Place  Place
	Add    AddForm
	Query  string // error of the search; "" = none
	Jobs   models.Slice[crawl.Job]
	Last   map[int64]crawl.Execution // the newest run of each job, by Job.Seq; jobs without a run are missing
	Counts map[crawl.Status]int
}

// Place is a page of the list of jobs. Its path can be bookmarked.
type Place struct {
	crawl.JobFilter
	Token string // of the page; "" = the first
}

// Path returns the path of the list.
func (p Place) Path() string {
	q := url.Values{}
	ui.SetFilters(q, map[string]string{"q": p.Text, "status": string(p.Status), "page_token": p.Token})
	return ui.WithQuery("/crawl", q)
}

// A place with another filter starts at its first page.

func (p Place) withStatus(s crawl.Status) Place { p.Status, p.Token = s, ""; return p }
func (p Place) after(c models.Cursor) Place     { p.Token = c.Token(); return p }

func (p Place) filtered() bool { return p.JobFilter != crawl.JobFilter{} }

// total is the number of all jobs.
func (v List) total() int {
	n := 0
	for _, count := range v.Counts {
		n += count
	}
	return n
}

// shownStatuses returns the statuses of the filter: those that jobs have, running, and the
// chosen one.
func (v List) shownStatuses() []crawl.Status {
	var offered []crawl.Status
	for _, s := range crawl.Statuses {
		if v.Counts[s] > 0 || s == crawl.Running || s == v.Place.Status {
			offered = append(offered, s)
		}
	}
	return offered
}

// countText is the number of jobs in the list, or "Many jobs" if it is not known.
func (v List) countText() string {
	n, whole := len(v.Jobs.Items), v.Place.Token == "" && !v.Jobs.More()
	if text, ok := ui.CountSoFar(n, v.Jobs.Stopped, v.Place.Token != "", "job"); ok {
		return text
	}
	switch {
	case !v.Place.filtered():
		n = v.total()
	case v.Place.Text == "":
		n = v.Counts[v.Place.Status]
	case !whole:
		return "Many jobs"
	}
	return ui.Plural(n, "job")
}

// The paths of jobs and sources.

func jobPath(id string) string           { return "/crawl/jobs/" + id }
func actPath(id string, a string) string { return jobPath(id) + "/" + a }
func sourcePath(id string) string        { return "/crawl/sources/" + id }
