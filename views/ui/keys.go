package ui

import (
	"slices"
	"strings"
)

// Key is an entry in the list of keyboard shortcuts. static/app.js handles the keys.
type Key struct {
	Keys []string // a sequence or alternatives
	What string   // action, in sentence case
}

// Shortcuts of all pages. Those of the systems are listed after rowKeys, those of the sections
// after pageKeys.
var (
	rowKeys = []Key{
		{[]string{"Ctrl K"}, "Search everything"},
		{[]string{"/"}, "Search this list or everything"},
		{[]string{"n"}, "New"},
		{[]string{"j", "k"}, "Next or previous row"},
		{[]string{"Enter", "o"}, "Open"},
		{[]string{"e"}, "Edit"},
		{[]string{"x"}, "Select (Shift + click for a range)"},
	}
	pageKeys = []Key{
		{[]string{"u"}, "Undo the last action"},
		{[]string{"[", "]"}, "Previous or next page"},
	}
	helpKeys = []Key{
		{[]string{"Esc"}, "Leave the field or clear the selection"},
		{[]string{"?"}, "Show keyboard shortcuts"},
	}
)

// keys returns the list of keyboard shortcuts. A key of two systems is one entry: "Pause or resume
// a target, disable or enable a short link".
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
