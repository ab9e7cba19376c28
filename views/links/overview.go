package links

import (
	"fmt"
	"time"

	"github.com/a-h/templ"

	"linkwatch/models/links"
	"linkwatch/views/ui"
)

// Overview is the data of links for the overview.
type Overview struct {
	Counts          links.Counts
	Attention       links.Attention
	Recent, Popular []links.Link
	BaseURL         string // URL of this server, for the bookmarklet
	Now             time.Time
}

// Part returns the part of the overview about links.
func (v Overview) Part() ui.OverviewPart {
	p := ui.OverviewPart{
		Used:      v.Counts.Active+v.Counts.Expired > 0,
		Tiles:     v.tiles(),
		Attention: v.attention(),
		Well:      []string{"no links are dead, suspect or moved" + ui.NotChecked(v.Counts.Health[links.Unchecked])},
		Welcome: ui.Welcome{
			Heading: "Save links. Know when they break.",
			Lead:    "Linkwatch reads the title and picture of each page, makes it searchable, and reports when the page is gone, has moved, or the site is down.",
		},
		Steps: []ui.Step{{Place: 1, Body: pasteStep()}, {Place: 3, Body: saveStep(v.BaseURL)}},
	}
	if len(v.Recent) > 0 {
		p.Aside = append(p.Aside, briefs("Recent", newest().Path(), v.Recent, v.Now, false))
	}
	if v.viewed() {
		p.Aside = append(p.Aside, briefs("Popular", popular().Path(), v.Popular, v.Now, true))
	}
	return p
}

// viewed reports whether any link has views. Without views, the popular links are the recent ones.
func (v Overview) viewed() bool { return len(v.Popular) > 0 && v.Popular[0].ViewCount > 0 }

func (v Overview) tiles() []ui.Tile {
	all := []ui.Tile{
		{Path: newest().Path(), Count: v.Counts.Active, Word: "links"},
		{Path: TagsPath("", links.TagsByName, 1), Count: v.Counts.Tags, Word: "tags"},
	}
	for _, h := range []links.Health{links.Dead, links.Suspect, links.Moved} {
		all = append(all, ui.Tile{
			Path: newest().withHealth(h).Path(), Count: v.Counts.Health[h], Word: string(h), Class: string(h), Icon: healthIcon(h),
		})
	}
	return append(all, ui.Tile{Path: newest().withShown(links.ShowExpired).Path(), Count: v.Counts.Expired, Word: "expired"})
}

func (v Overview) attention() []ui.Attention {
	health := func(h links.Health, s ui.Severity, first []links.Link) ui.Attention {
		return ui.Attention{
			Severity: s, Noun: string(h) + " link", Count: v.Counts.Health[h], Path: newest().withHealth(h).Path(), Rows: v.rows(first),
		}
	}
	return []ui.Attention{
		health(links.Dead, ui.Critical, v.Attention.Dead),
		{
			Severity: ui.Critical, Noun: "dead link", After: fmt.Sprintf(" expired in the last %d days", links.RecentDays), Count: v.Attention.GoneCount,
			Note: "Expired links are kept, but hidden from lists and not checked.",
			Path: newest().withHealth(links.Dead).withShown(links.ShowRecent).Path(), Rows: v.rows(v.Attention.Gone),
		},
		health(links.Suspect, ui.Warning, v.Attention.Suspect),
		health(links.Moved, ui.Info, v.Attention.Moved),
	}
}

func (v Overview) rows(ls []links.Link) []templ.Component {
	rows := make([]templ.Component, len(ls))
	for i, l := range ls {
		rows[i] = attentionRow(l, v.Now)
	}
	return rows
}

func curlExample(base string) string {
	return "curl " + base + "/v1/links \\\n  --json '{\"url\": \"https://example.com\", \"tags\": [\"demo\"]}'"
}
