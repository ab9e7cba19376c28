package links

import (
	"github.com/a-h/templ"

	"linkwatch/models/links"
	"linkwatch/views/ui"
)

// Link is the page of one link.
type Link struct {
	ui.Page
	Link links.Link
	Tags []links.Tag // of the link, with their ids
	Edit EditForm
	Add  TagForm

	MayShare bool // the reader may change who sees the link

	Actions []templ.Component // of other systems, such as the button that watches the URL
	Main    []templ.Component // of other systems: sections below the link's health
}

// EditForm is what the owner sets of a link, as typed. Open shows the form
// unfolded.
type EditForm struct {
	Title, Notes string
	Private      bool
	Open         bool
	Errors       ui.Errors
}

// TagForm is what was typed to add tags to a link.
type TagForm struct {
	Tags   string
	Errors ui.Errors
}

func linkPath(id string) string { return "/links/" + id }
