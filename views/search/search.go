// Package search holds the page of the search over everything, and the part of it that
// the command palette shows.
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
	Text   string // what is searched; "" = nothing yet
	Query  string // what is wrong with it, else ""
	URL    string // the URL that Text is; "" = it is none
	Groups []Group
}

// Group is what a search found of one kind.
type Group struct {
	Kind    string // in the plural: "Short links"
	All     string // the path of the list of all that match; "" = there is none
	Hits    []ui.Hit
	Problem string // why the kind was not searched, in a sentence; "" = it was
}

// Path is the address of the page that searches for a text.
func Path(text string) string {
	q := url.Values{}
	ui.SetFilters(q, map[string]string{"q": text})
	return ui.WithQuery("/search", q)
}

// found are the groups with hits.
func (v Search) found() []Group {
	return slices.DeleteFunc(slices.Clone(v.Groups), func(g Group) bool { return len(g.Hits) == 0 })
}

// problems are the groups that were not searched.
func (v Search) problems() []Group {
	return slices.DeleteFunc(slices.Clone(v.Groups), func(g Group) bool { return g.Problem == "" })
}

// nothing reports whether a search succeeded without any result.
func (v Search) nothing(actions []ui.Link) bool {
	return v.Text != "" && v.Query == "" && len(v.found()) == 0 && len(v.problems()) == 0 && len(actions) == 0
}

// actions are the forms and pages that Text offers to the reader: all of them if it is empty, those that
// take a URL if it is one, else those with words that begin with its words.
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

// offers reports whether each word of a text begins a word of a label.
func offers(label, text string) bool {
	words := strings.Fields(models.Fold(label))
	for _, typed := range strings.Fields(models.Fold(text)) {
		if !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, typed) }) {
			return false
		}
	}
	return true
}
