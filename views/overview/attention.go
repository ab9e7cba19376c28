package overview

import (
	"slices"
	"strings"

	"linkwatch/views/ui"
)

var severities = []ui.Severity{ui.Critical, ui.Warning, ui.Info}

// groups returns the non-empty groups of all parts, in display order.
func (v Overview) groups() []ui.Attention {
	var all []ui.Attention
	for _, severity := range severities {
		for _, p := range slices.Backward(v.Parts) {
			for _, a := range p.Attention {
				a.Count = max(a.Count, len(a.Rows))
				if a.Severity == severity && a.Count > 0 {
					all = append(all, a)
				}
			}
		}
	}
	return all
}

// total returns the number of items in all groups. An item in two groups counts twice.
func total(groups []ui.Attention) int {
	n := 0
	for _, g := range groups {
		n += g.Count
	}
	return n
}

// title returns the heading of a group: "23 suspect links".
func title(g ui.Attention) string { return ui.Plural(g.Count, g.Noun) + g.After }

// well returns the text if nothing needs attention: "All is well. No target is down, and no job
// failed."
func (v Overview) well() string {
	var all []string
	for _, p := range v.Parts {
		all = append(all, p.Well...)
	}
	if len(all) == 0 {
		return "All is well."
	}
	if last := len(all) - 1; last > 0 {
		all[last] = "and " + all[last]
	}
	return "All is well. " + ui.Sentence(strings.Join(all, ", ")) + "."
}
