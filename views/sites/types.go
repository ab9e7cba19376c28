// Package sites draws the pages of websites.
package sites

// Check is one part of a test of credentials.
type Check struct {
	Name string // what was asked: "Search Console"
	OK   bool
	Text string // what happened
	Fix  string // what to do; "" = nothing
}

// Kept is where other systems have a page; "" = nowhere.
type Kept struct {
	Link    string // path of the saved link
	Target  string // path of the target
	Crawled string // path of the crawled page
}
