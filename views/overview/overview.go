// Package overview is the page of "/": it arranges what the systems show there,
// and knows none of them.
package overview

import (
	"cmp"
	"slices"

	"linkwatch/views/ui"
)

// Overview is the first page: what needs attention, and what is new.
type Overview struct {
	ui.Page
	Parts []ui.OverviewPart // of the systems, in their order
}

// used says whether any system has something stored.
func (v Overview) used() bool {
	return slices.ContainsFunc(v.Parts, func(p ui.OverviewPart) bool { return p.Used })
}

// welcome is what the first system that welcomes says, else the page's title.
func (v Overview) welcome() ui.Welcome {
	for _, p := range v.Parts {
		if p.Welcome != (ui.Welcome{}) {
			return p.Welcome
		}
	}
	return ui.Welcome{Heading: v.Title}
}

// steps are the first steps of all systems.
func (v Overview) steps() []ui.Step {
	var all []ui.Step
	for _, p := range v.Parts {
		all = append(all, p.Steps...)
	}
	slices.SortStableFunc(all, func(a, b ui.Step) int { return cmp.Compare(a.Place, b.Place) })
	return all
}
