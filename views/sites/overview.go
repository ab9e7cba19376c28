package sites

import (
	"time"

	"github.com/a-h/templ"

	"linkwatch/models/sites"
	"linkwatch/views/ui"
)

// Overview is the data of the websites on the overview page.
type Overview struct {
	Total           int
	Problems        map[sites.Problem]int
	Refused, Unread []sites.Website // the first with each problem
	Failed          []sites.Website // the first with failed pages
	SitemapErrors   map[int64]int   // sitemaps with errors of Unread, by Website.Seq
	First           []sites.Website
	Counts          map[int64]sites.Counts // of First, by Website.Seq
	FailedCounts    map[int64]sites.Counts // of Failed
	Now             time.Time
}

// Part returns the part of the overview page.
func (v Overview) Part() ui.OverviewPart {
	p := ui.OverviewPart{
		Used: v.Total > 0,
		Attention: []ui.Attention{
			{
				Severity: ui.Critical, Noun: "website", After: " refused by Google", Count: v.Problems[sites.ProblemGoogle],
				Path: ListPlace{}.with(sites.ProblemGoogle).Path(), Rows: v.rows(v.Refused, func(w sites.Website) templ.Component { return refusedRow(w, v.Now) }),
			},
			{
				Severity: ui.Warning, Noun: "website", After: " with unreadable sitemaps", Count: v.Problems[sites.ProblemSitemaps],
				Path: ListPlace{}.with(sites.ProblemSitemaps).Path(), Rows: v.rows(v.Unread, func(w sites.Website) templ.Component { return unreadRow(w, v.SitemapErrors[w.Seq], v.Now) }),
			},
			{
				Severity: ui.Warning, Noun: "website", After: " with failed submissions", Count: v.Problems[sites.ProblemPages],
				Path: ListPlace{}.with(sites.ProblemPages).Path(), Rows: v.rows(v.Failed, func(w sites.Website) templ.Component { return failedPagesRow(w, v.FailedCounts[w.Seq]) }),
			},
		},
	}
	if p.Used {
		p.Well = []string{"Google refuses no website"}
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

func (v Overview) rows(ws []sites.Website, row func(sites.Website) templ.Component) []templ.Component {
	rows := make([]templ.Component, len(ws))
	for i, w := range ws {
		rows[i] = row(w)
	}
	return rows
}
