// Package overview contains the page "/", which shows the parts of all systems. It names no system.
package overview

import (
	"cmp"
	"slices"

	"linkwatch/views/ui"
)

// Overview is the overview page.
type Overview struct {
	ui.Page
	Parts []ui.OverviewPart // in the order of the systems
}

// used reports whether any system has data.
func (v Overview) used() bool {
	return slices.ContainsFunc(v.Parts, func(p ui.OverviewPart) bool { return p.Used })
}

// welcome returns the Welcome of the first system with one, or the page title.
func (v Overview) welcome() ui.Welcome {
	for _, p := range v.Parts {
		if p.Welcome != (ui.Welcome{}) {
			return p.Welcome
		}
	}
	return ui.Welcome{Heading: v.Title}
}

// steps returns the first steps of all systems.
func (v Overview) steps() []ui.Step {
	var all []ui.Step
	for _, p := range v.Parts {
		all = append(all, p.Steps...)
	}
	slices.SortStableFunc(all, func(a, b ui.Step) int { return cmp.Compare(a.Place, b.Place) })
	return all
}
