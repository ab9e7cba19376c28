package ui

import "github.com/a-h/templ"

// AttentionRows is the number of rows in a group on the overview, before "Show all". A system may
// show more if the group is always small.
const AttentionRows = 5

// Severity is the severity of a group on the overview. The values are the same as in alerts.
type Severity string

// The severities, most urgent first.
const (
	Critical Severity = "critical" // something is broken
	Warning  Severity = "warning"  // something may break soon
	Info     Severity = "info"     // something can be improved
)

// Tile is a count at the top of the overview, with a link to the counted items.
type Tile struct {
	Path  string
	Count int
	Word  string // after the count: "targets"
	Class string // CSS class if the count is above 0; "" = none
	Icon  string // see Icon; "" = none
}

// NotChecked is the end of a text of OverviewPart.Well about items of which n were not checked yet; "" if n is 0.
func NotChecked(n int) string {
	if n == 0 {
		return ""
	}
	return " (" + Count(n) + " not checked yet)"
}

// Attention is a group of items of one kind that need attention.
type Attention struct {
	Severity Severity
	Count    int               // all items; the page shows the number of rows if that is greater
	Noun     string            // singular: "certificate"
	After    string            // after the noun: " expiring soon"
	Note     string            // explains the group; "" = none
	Path     string            // list of all items
	Rows     []templ.Component // <li> elements, normally at most AttentionRows
}

// Step is a first step, shown while nothing is stored.
type Step struct {
	Place int             // sort order across systems
	Body  templ.Component // content of the list item
}

// Welcome is the text above the first steps. The zero Welcome is none.
type Welcome struct {
	Heading string
	Lead    string // paragraph below the heading
}

// OverviewPart is the part of one system on the overview. Parts are shown in the order of the
// systems, unless a field says otherwise.
type OverviewPart struct {
	Used      bool              // the system has data; if no system has any, the page shows the first steps
	Tiles     []Tile            // counts at the top
	Attention []Attention       // sorted by severity, then by system in reverse order; empty groups are hidden
	Well      []string          // shown if nothing needs attention: "no target is down"
	Main      []templ.Component // sections below "Needs attention"
	Aside     []templ.Component // sections in the sidebar
	Welcome   Welcome           // above the first steps; the first system with one wins
	Steps     []Step            // first steps
	Hint      templ.Component   // below the first steps; nil = none
}
