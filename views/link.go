package views

import (
	"github.com/linkwatch/linkwatch/models/links"
	"github.com/linkwatch/linkwatch/views/ui"
)

// Link is the page of one link.
type Link struct {
	ui.Page
	Link links.Link
	Tags []links.Tag // of the link, with their ids
	Edit EditForm
	Add  TagForm
}

// EditForm is the owner's own words on a link, as typed. Open shows the form
// instead of leaving it folded.
type EditForm struct {
	Title, Notes string
	Open         bool
	Errors       ui.Errors
}

// TagForm is what was typed to add tags to a link.
type TagForm struct {
	Tags   string
	Errors ui.Errors
}

// field is one value of a form that the reader does not see.
type field struct{ name, value string }
