// Package crawl holds the pages of crawling: for each a struct with what it shows, and
// the component that shows it.
package crawl

import (
	"net/url"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/views/ui"
)

// List is the page of all jobs: the form to add, the search, the rows.
type List struct {
	ui.Page
	Place  Place
	Add    AddForm
	Query  string // what is wrong with the search, else ""
	Jobs   models.Slice[crawl.Job]
	Last   map[int64]crawl.Execution // the newest execution of each job that has run, by Job.Seq
	Counts map[crawl.Status]int
}

// Place is a page of the list of jobs. Its path can be bookmarked.
type Place struct {
	crawl.JobFilter
	Token string // of the page; "" = the first
}

// Path is the address of the list.
func (p Place) Path() string {
	q := url.Values{}
	ui.SetFilters(q, map[string]string{"q": p.Text, "status": string(p.Status), "page_token": p.Token})
	return ui.WithQuery("/crawl", q)
}

// A place with another filter starts at its first page.

func (p Place) withStatus(s crawl.Status) Place { p.Status, p.Token = s, ""; return p }
func (p Place) after(c models.Cursor) Place     { p.Token = c.Token(); return p }

func (p Place) filtered() bool { return p.JobFilter != crawl.JobFilter{} }

// all is how many jobs there are.
func (v List) all() int {
	n := 0
	for _, count := range v.Counts {
		n += count
	}
	return n
}

// offered are the statuses that can be chosen: those of jobs, running, and the one
// that is chosen.
func (v List) offered() []crawl.Status {
	var offered []crawl.Status
	for _, s := range crawl.Statuses {
		if v.Counts[s] > 0 || s == crawl.Running || s == v.Place.Status {
			offered = append(offered, s)
		}
	}
	return offered
}

// found is the number of jobs in the list, as far as it is known.
func (v List) found() string {
	n, whole := len(v.Jobs.Items), v.Place.Token == "" && !v.Jobs.More()
	switch {
	case !v.Place.filtered():
		n = v.all()
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
