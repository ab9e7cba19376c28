// Package search contains the page of the global search and its part for the command palette.
package search

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"linkwatch/models"
	"linkwatch/views/ui"
)

// Search is the search page.
type Search struct {
	ui.Page
	Text   string // search text; "" = none
	Query  string // error message for the text; "" = none
	URL    string // Text as a URL; "" = not a URL
	Groups []Group
}

// Group is the results of one kind.
type Group struct {
	Kind    string // plural: "Short links"
	All     string // path of the list of all matches; "" = none
	Hits    []ui.Hit
	Problem string // error message if the kind could not be searched; "" = none
}

// Path returns the path of the search page for a text.
func Path(text string) string {
	q := url.Values{}
	ui.SetFilters(q, map[string]string{"q": text})
	return ui.WithQuery("/search", q)
}

func (v Search) found() []Group {
	return slices.DeleteFunc(slices.Clone(v.Groups), func(g Group) bool { return len(g.Hits) == 0 })
}

// count says how many results are shown; "" without a text.
func (v Search) count() string {
	if v.Text == "" || v.Query != "" {
		return ""
	}
	n := 0
	for _, g := range v.Groups {
		n += len(g.Hits)
	}
	return ui.Plural(n, "result")
}

// problems returns the groups that could not be searched.
func (v Search) problems() []Group {
	return slices.DeleteFunc(slices.Clone(v.Groups), func(g Group) bool { return g.Problem == "" })
}

// nothing reports whether the search succeeded without results.
func (v Search) nothing(actions []ui.Link) bool {
	return v.Text != "" && v.Query == "" && len(v.found()) == 0 && len(v.problems()) == 0 && len(actions) == 0
}

// actions returns the forms and pages for Text: all if it is empty, forms for URLs if it is a URL,
// otherwise those whose label matches.
func (v Search) actions(ctx context.Context) []ui.Link {
	var all []ui.Link
	nav := v.Nav.For(ctx)
	for _, c := range nav.Commands {
		switch {
		case v.URL == "":
			all = append(all, ui.Link{Label: c.Label, Path: c.Path})
		case c.ForURL != "":
			path, field, _ := strings.Cut(c.Path, "#")
			all = append(all, ui.Link{Label: c.ForURL, Path: ui.WithQuery(path, url.Values{"url": {v.URL}}) + "#" + field})
		}
	}
	if v.URL != "" {
		return all
	}
	for _, s := range nav.Sections {
		all = append(all, ui.Link{Label: "Go to " + s.Label, Path: s.Path})
	}
	for _, l := range nav.Pages {
		all = append(all, ui.Link{Label: "Go to " + l.Label, Path: l.Path})
	}
	for _, s := range nav.Admin {
		all = append(all, ui.Link{Label: "Go to " + s.Label, Path: s.Path})
	}
	return slices.DeleteFunc(all, func(l ui.Link) bool { return !offers(l.Label, v.Text) })
}

// offers reports whether each word of a text is a prefix of a word of a label.
func offers(label, text string) bool {
	words := strings.Fields(models.Fold(label))
	for _, typed := range strings.Fields(models.Fold(text)) {
		if !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, typed) }) {
			return false
		}
	}
	return true
}
