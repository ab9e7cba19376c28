package sites

import (
	"time"

	"github.com/a-h/templ"

	"linkwatch/models/sites"
	"linkwatch/views/ui"
)

// Overview is the data of the websites on the overview page.
type Overview struct {
	Total         int
	Problems      map[sites.Problem]int
	With          map[sites.Problem][]sites.Website // the first with each problem
	SitemapErrors map[int64]int                     // sitemaps with errors of those with ProblemSitemaps, by Website.Seq
	First         []sites.Website
	Counts        map[int64]sites.Counts // of First, by Website.Seq
	FailedCounts  map[int64]sites.Counts // of those with ProblemPages
	Now           time.Time
}

// Part returns the part of the overview page.
func (v Overview) Part() ui.OverviewPart {
	p := ui.OverviewPart{
		Used: v.Total > 0,
		Attention: []ui.Attention{
			v.group(ui.Critical, " refused by Google", sites.ProblemGoogle, func(w sites.Website) templ.Component { return refusedRow(w, v.Now) }),
			v.group(ui.Critical, " with IndexNow errors", sites.ProblemIndexNow, indexNowRow),
			v.group(ui.Warning, " with unreadable sitemaps", sites.ProblemSitemaps, func(w sites.Website) templ.Component { return unreadRow(w, v.SitemapErrors[w.Seq], v.Now) }),
			v.group(ui.Warning, " with failed submissions", sites.ProblemPages, func(w sites.Website) templ.Component { return failedPagesRow(w, v.FailedCounts[w.Seq]) }),
		},
	}
	if p.Used {
		p.Well = []string{"no search engine refuses a website"}
		p.Aside = []templ.Component{briefs(v)}
	}
	return p
}

// topFailureCause is the most frequent cause of failed pages; "" = unknown.
func topFailureCause(c sites.Counts) string {
	for _, by := range c.ByCause {
		if by.Status == sites.Failed {
			return by.Cause
		}
	}
	return ""
}

func (v Overview) group(severity ui.Severity, after string, t sites.Problem, row func(sites.Website) templ.Component) ui.Attention {
	a := ui.Attention{Severity: severity, Noun: "website", After: after, Count: v.Problems[t], Path: ListPlace{}.with(t).Path()}
	for _, w := range v.With[t] {
		a.Rows = append(a.Rows, row(w))
	}
	return a
}
