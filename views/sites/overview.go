package sites

import (
	"time"

	"github.com/a-h/templ"

	"linkwatch/models/sites"
	"linkwatch/views/ui"
)

// Overview is what the overview shows of websites.
type Overview struct {
	Total           int
	InTrouble       map[sites.Trouble]int
	Refused, Unread []sites.Website // the first of each trouble
	Failed          []sites.Website // the first with pages that failed
	Broken          map[int64]int   // sitemaps of Unread that cannot be read, by Website.Seq
	First           []sites.Website
	Counts          map[int64]sites.Counts // of First, by Website.Seq
	FailedCounts    map[int64]sites.Counts // of Failed
	Now             time.Time
}

// Part is the websites' part of the overview.
func (v Overview) Part() ui.OverviewPart {
	p := ui.OverviewPart{
		Used: v.Total > 0,
		Attention: []ui.Attention{
			{
				Severity: ui.Critical, Noun: "website", After: " refused by Google", Count: v.InTrouble[sites.GoogleRefuses],
				Path: ListPlace{}.with(sites.GoogleRefuses).Path(), Rows: v.rows(v.Refused, func(w sites.Website) templ.Component { return refusedRow(w, v.Now) }),
			},
			{
				Severity: ui.Warning, Noun: "website", After: " with unreadable sitemaps", Count: v.InTrouble[sites.SitemapsUnread],
				Path: ListPlace{}.with(sites.SitemapsUnread).Path(), Rows: v.rows(v.Unread, func(w sites.Website) templ.Component { return unreadRow(w, v.Broken[w.Seq], v.Now) }),
			},
			{
				Severity: ui.Warning, Noun: "website", After: " with failed pages", Count: v.InTrouble[sites.PagesFailed],
				Path: ListPlace{}.with(sites.PagesFailed).Path(), Rows: v.rows(v.Failed, func(w sites.Website) templ.Component { return failedPagesRow(w, v.FailedCounts[w.Seq]) }),
			},
		},
	}
	if p.Used {
		p.Well = []string{"Google accepts all websites"}
		p.Aside = []templ.Component{briefs(v)}
	}
	return p
}

// mostFailed is the cause for which most of a website's pages failed; "" = none is known.
func mostFailed(c sites.Counts) string {
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
