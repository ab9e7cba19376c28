package ui

import (
	"context"
	"slices"

	"linkwatch/models"
)

// Nav is what the systems put into the frame of every page: the frame itself
// knows none of them.
type Nav struct {
	Sections []Section // the navigation
	Admin    []Section // the pages that the head of each admin page lists
	Pages    []Link    // further pages that the search leads to
	New      *Link     // the button "New" in the header; nil = none
	Commands []Command // what the search offers to add
	Keys     []Key     // the systems' entries in the help on keys
}

// Section is an entry of the navigation, or of the head of the admin pages.
type Section struct {
	ID    string // of Page.Section, or of AdminHead
	Label string
	Path  string
	Key   string // the letter that leads there after "g"; "" = none
}

// Command is a form that the search leads to. Opening it changes nothing.
type Command struct {
	Label  string // "Add link"
	ForURL string // what it does with a URL that was typed, which the parameter "url" fills in: "Save link"; "" = it is not offered then
	Path   string // of its page, with the id of its first field if the page has more than the form: /links#url
}

// Link is a link with its words.
type Link struct{ Label, Path string }

// FirstSection is the first entry of the navigation after the overview. ok is
// false if there is none.
func (p Page) FirstSection() (s Section, ok bool) {
	for _, s := range p.nav().Sections {
		if s.Path != "/" {
			return s, true
		}
	}
	return Section{}, false
}

// nav is the navigation of a page; a page without one has an empty one.
func (p Page) nav() Nav {
	if p.Nav == nil {
		return Nav{}
	}
	return *p.Nav
}

// For is the navigation without what the reader may not open: admin pages are for admins,
// and forms are for editors and admins.
func (n Nav) For(ctx context.Context) Nav {
	if IsAdmin(ctx) {
		return n
	}
	n.Sections = slices.DeleteFunc(slices.Clone(n.Sections), func(s Section) bool {
		return slices.ContainsFunc(n.Admin, func(admin Section) bool { return admin.Path == s.Path })
	})
	n.Admin = nil
	if !MayEdit(ctx) {
		n.New, n.Commands = nil, nil
	}
	return n
}

// IsAdmin reports whether the reader may open admin pages. While nobody has to sign in,
// everyone may.
func IsAdmin(ctx context.Context) bool {
	role := roleOf(ctx)
	return role == "" || role == "admin" // as models.Actor.Role names it
}

// MayEdit reports whether the reader may change things, or only read them.
func MayEdit(ctx context.Context) bool { return roleOf(ctx) != "viewer" }

// roleOf is the role of the reader; "" = nobody has to sign in, or it is not known.
func roleOf(ctx context.Context) string {
	a, _ := models.ActorOf(ctx)
	return a.Role
}
