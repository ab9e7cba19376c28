package views

import (
	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/models/shortlinks"
	"linkwatch/models/targets"
	"linkwatch/views/ui"
)

// Link is the page of one link.
type Link struct {
	ui.Page
	Link links.Link
	Tags []links.Tag // of the link, with their ids
	Edit EditForm
	Add  TagForm

	Target targets.Target       // that watches the link's URL; its ID is "" if none does
	Short  shortlinks.ShortLink // active, that leads to the link's URL; its Key is "" if none does
	Prefix string               // of the short link's address
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

// watchFields make the link at hand a target of the same name.
func watchFields(l links.Link) []ui.Field {
	return []ui.Field{{Name: "url", Value: l.URL}, {Name: "name", Value: models.Truncate(l.Title, targets.MaxName)}, {Name: "back", Value: linkPath(l.ID)}}
}
