// Package help contains the pages of the guides.
package help

import (
	"net/url"

	"linkwatch/views/ui"
)

// Path is the path of the page of all guides.
const Path = ui.HelpPath

// Guide is a guide.
type Guide struct {
	Path     string // of its page
	Label    string // short name: "Short links"
	About    string // what it explains, in a sentence
	Title    string
	Sections []Section // the first is the text before the other headings
	HTML     string    // without the title. It is trusted
}

// Section is a heading with the text that follows it.
type Section struct {
	ID    string // of the heading; "" = the beginning of the guide
	Title string
	Level int    // of the heading: 1 is the title of the guide
	Text  string // in one line, for searches
}

// contents returns the sections in the list of the contents.
func (g Guide) contents() []Section { return g.Sections[1:] }

// Found is a section that matches a search.
type Found struct {
	Guide   Guide
	Section Section
	Excerpt string // text around the first match; "" = the heading matches
}

func (f Found) path() string {
	if f.Section.ID == "" {
		return f.Guide.Path
	}
	return f.Guide.Path + "#" + f.Section.ID
}

// Hits returns sections as results of the global search.
func Hits(found []Found) []ui.Hit {
	hits := make([]ui.Hit, len(found))
	for i, f := range found {
		hits[i] = ui.Hit{Title: f.Section.Title, Path: f.path()}
		if f.Section.ID != "" {
			hits[i].Detail = f.Guide.Title
		}
	}
	return hits
}

// Index is the page of all guides, and of the sections that match a search.
type Index struct {
	ui.Page
	Guides  []Guide
	Text    string // search text; "" = none
	Problem string // error message for the text; "" = none
	Found   []Found
	More    bool // there are more sections than Found
}

// SearchPath returns the path of the page of all guides for a search text.
func SearchPath(text string) string {
	q := url.Values{}
	ui.SetFilters(q, map[string]string{"q": text})
	return ui.WithQuery(Path, q)
}

// Reading is the page of a guide.
type Reading struct {
	ui.Page
	Guides []Guide // all guides
	Guide  Guide
}
