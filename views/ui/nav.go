package ui

import (
	"context"
	"slices"

	"linkwatch/models"
)

// Nav is the navigation of all pages, which the systems provide.
type Nav struct {
	Sections []Section // main navigation
	Admin    []Section // navigation of the admin pages
	Pages    []Link    // other pages that the search finds
	New      *Link     // button in the header; nil = none
	Commands []Command // forms that the search finds
	Keys     []Key     // keyboard shortcuts
}

// Section is an entry of the main navigation or of the admin navigation.
type Section struct {
	ID    string // value of Page.Section, or parameter of AdminHead
	Label string
	Path  string
	Key   string // the second key of the shortcut "g" …; "" = none
}

// Command is a form that the search finds. Opening it changes nothing.
type Command struct {
	Label  string // "Add link"
	ForURL string // label if the search text is a URL, which is passed as the parameter "url": "Save link"; "" = not offered for URLs
	Path   string // path of the page, with the ID of the first field if the form is part of a page: /links#url
}

// Link is a link with a label.
type Link struct{ Label, Path string }

// FirstSection returns the first section after the overview. ok is false if there is none.
func (p Page) FirstSection() (s Section, ok bool) {
	for _, s := range p.nav().Sections {
		if s.Path != "/" {
			return s, true
		}
	}
	return Section{}, false
}

func (p Page) nav() Nav {
	if p.Nav == nil {
		return Nav{}
	}
	return *p.Nav
}

// For returns the navigation for the user of ctx: only admins get admin pages, and viewers get no
// forms.
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

// IsAdmin reports whether the user may open admin pages. Without sign-in, every user may.
func IsAdmin(ctx context.Context) bool {
	role := roleOf(ctx)
	return role == "" || role == "admin" // see models.Actor.Role
}

// MayEdit reports whether the user may change data.
func MayEdit(ctx context.Context) bool { return roleOf(ctx) != "viewer" }

// roleOf returns the role of the user; "" = no sign-in required, or unknown.
func roleOf(ctx context.Context) string {
	a, _ := models.ActorOf(ctx)
	return a.Role
}
