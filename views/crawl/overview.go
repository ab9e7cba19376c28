package crawl

import (
	"time"

	"github.com/a-h/templ"

	"linkwatch/models/crawl"
	"linkwatch/views/ui"
)

// Overview is the data of crawls on the overview page.
type Overview struct {
	Counts map[crawl.Status]int
	Failed []crawl.Job
	Now    time.Time
}

// Part returns the part of the overview page about crawls.
func (v Overview) Part() ui.OverviewPart {
	list := List{Counts: v.Counts}
	p := ui.OverviewPart{
		Used: list.total() > 0,
		Attention: []ui.Attention{{
			Severity: ui.Critical, Noun: "failed crawl", Count: v.Counts[crawl.Failed],
			Path: Place{}.withStatus(crawl.Failed).Path(), Rows: v.rows(),
		}},
		Well: []string{"no failed crawls"},
	}
	if p.Used {
		p.Aside = []templ.Component{counts(list)}
	}
	return p
}

func (v Overview) rows() []templ.Component {
	rows := make([]templ.Component, len(v.Failed))
	for i, j := range v.Failed {
		rows[i] = failedRow(j, v.Now)
	}
	return rows
}
