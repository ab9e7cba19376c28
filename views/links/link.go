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
	Tags []links.Tag // of the link
	Edit EditForm
	Add  TagForm

	MayShare bool // the user may change Private

	Actions []templ.Component // buttons of other systems, such as Watch
	Main    []templ.Component // sections of other systems, below the health
}

// EditForm is the form for title and notes, as submitted.
type EditForm struct {
	Title, Notes string
	Private      bool
	Open         bool // the form is expanded
	Errors       ui.Errors
}

// Edited are the stored values of the form for title and notes.
func Edited(l links.Link) ui.Edited {
	return ui.Edited{}.Text("title", "Title", l.OwnTitle).Text("notes", "Notes", l.Notes).Tick("private", "Private", l.Private())
}

// TagForm is the form that adds tags to a link, as submitted.
type TagForm struct {
	Tags   string
	Errors ui.Errors
}

func linkPath(id string) string { return "/links/" + id }
