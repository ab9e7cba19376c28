package ui

import (
	"slices"
	"strings"
)

// Key is an entry of the help on keys. static/app.js handles them: it does
// something only where the page has what it needs, such as a row to select.
type Key struct {
	Keys []string // pressed one after the other, or alternatives
	What string   // what they do, in sentence case
}

// The frame's own keys. Those of the systems and of the sections are listed between
// them.
var (
	rowKeys = []Key{
		{[]string{"Ctrl K"}, "Search everything"},
		{[]string{"/"}, "Search this page, or everything"},
		{[]string{"n"}, "New"},
		{[]string{"j", "k"}, "Next, previous row"},
		{[]string{"Enter", "o"}, "Open"},
		{[]string{"e"}, "Details and edit"},
		{[]string{"x"}, "Select (Shift + click: a range)"},
	}
	pageKeys = []Key{
		{[]string{"u"}, "Undo the last action"},
		{[]string{"[", "]"}, "Previous, next page"},
	}
	helpKeys = []Key{
		{[]string{"Esc"}, "Leave a field, clear the selection"},
		{[]string{"?"}, "This help"},
	}
)

// keys are the entries of the help on keys. Keys that two systems use are one
// entry: "Pause or resume a target, disable or enable a short link".
func (n Nav) keys() []Key {
	all := slices.Clone(rowKeys)
	for _, k := range n.Keys {
		same := func(other Key) bool { return slices.Equal(other.Keys, k.Keys) }
		if i := slices.IndexFunc(all, same); i >= 0 {
			all[i].What += ", " + strings.ToLower(k.What[:1]) + k.What[1:]
		} else {
			all = append(all, k)
		}
	}
	all = append(all, pageKeys...)
	for _, s := range n.Sections {
		if s.Key != "" {
			all = append(all, Key{[]string{"g", s.Key}, "Go to " + s.Label})
		}
	}
	return append(all, helpKeys...)
}
