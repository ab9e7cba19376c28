package pages

import (
	"context"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"
)

// Subject is the subject of a page, for the other systems.
type Subject struct {
	URL, CanonicalURL, Title string
	Path                     string // of the page
	PrivateTo                string // the owner, if the subject is private; then only private items may be added; "" = shared
}

// RelatedView is the part of one system on a page of another. Both fields may be nil.
type RelatedView struct {
	Action  templ.Component // next to the actions of the page, if the page has a place for it
	Section templ.Component
}

// Related returns the part of a system on a page of another system, such as whether a saved link
// is also a target.
type Related func(c *gin.Context, s Subject) (RelatedView, error)

// ShowRelated calls all and returns their non-nil parts in order.
func ShowRelated(c *gin.Context, s Subject, all []Related) (actions, sections []templ.Component, err error) {
	for _, related := range all {
		shown, err := related(c, s)
		if err != nil {
			return nil, nil, err
		}
		if shown.Action != nil {
			actions = append(actions, shown.Action)
		}
		if shown.Section != nil {
			sections = append(sections, shown.Section)
		}
	}
	return actions, sections, nil
}

// SubjectOf returns the subject of the row with an ID. The error has CodeNotFound if there is none.
type SubjectOf func(ctx context.Context, id string) (Subject, error)
