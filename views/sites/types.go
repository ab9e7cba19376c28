// Package sites renders the pages of websites.
package sites

// Check is one step of a credentials test.
type Check struct {
	Name string // such as "Search Console"
	OK   bool
	Text string // what happened
	Fix  string // what to do; "" = nothing
}

// Related has the paths of items with the same URL in other systems; "" = none.
type Related struct {
	Link    string // path of the saved link
	Target  string // path of the target
	Crawled string // path of the crawled page
}
