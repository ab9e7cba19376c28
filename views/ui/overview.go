package ui

import "github.com/a-h/templ"

// AttentionRows is the number of rows that a group on the overview shows before
// "Show all". A system may show all rows of a group that never has many.
const AttentionRows = 5

// Severity is how urgent something on the overview is, as in alerts. It is one of
// the three constants.
type Severity string

// The severities, the most urgent first.
const (
	Critical Severity = "critical" // something does not work
	Warning  Severity = "warning"  // something may stop working soon
	Info     Severity = "info"     // something can be improved
)

// Tile is a count at the top of the overview, which links to what it counts.
type Tile struct {
	Path  string
	Count int
	Word  string // after the count: "targets"
	Class string // of the tile while the count is more than 0; "" = none
	Icon  string // see Icon; "" = none
}

// Attention is a group of things of one kind that need attention.
type Attention struct {
	Severity Severity
	Count    int               // of all; the page shows the number of rows if that is greater, as it is read later
	Noun     string            // of one: "certificate"
	After    string            // what follows the noun: " expiring soon"
	Path     string            // of the list of exactly these
	Rows     []templ.Component // list items, <li>, for the first of them: AttentionRows or fewer
}

// Step is a list item on the page of an empty store.
type Step struct {
	Place int             // the steps of all systems are shown in this order
	Body  templ.Component // what the list item holds
}

// Welcome is what the page of an empty store says before the first steps. The
// zero Welcome says nothing.
type Welcome struct {
	Heading string
	Lead    string // the paragraph below the heading
}

// OverviewPart is what one system shows on the overview. The page shows the parts
// in the order of the systems, except where a field says otherwise.
type OverviewPart struct {
	Used      bool              // the system has something stored; until any has, the page shows the first steps
	Tiles     []Tile            // counts at the top
	Attention []Attention       // ordered by severity, within one by system from the last to the first; empty groups are left out
	Well      []string          // what is well if no system needs attention: "no target is down"
	Main      []templ.Component // sections below "Needs attention"
	Aside     []templ.Component // sections beside it
	Welcome   Welcome           // before the first steps; the page shows that of the first system that has one
	Steps     []Step            // first steps
	Hint      templ.Component   // a sentence below the first steps; nil = none
}
