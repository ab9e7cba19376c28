package shortlinks

import (
	"net/url"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models/shortlinks"
	"linkwatch/views/ui"
)

// The parameters that make a page say what was just done.
const (
	paramAdded   = "made"    // key of a short link that was just added
	paramDeleted = "removed" // key of a short link that was just deleted
)

// Flashes are what pages say after actions on short links.
func (p Pages) Flashes() pages.Flash {
	return pages.Flash{
		Params: []string{paramAdded, paramDeleted},
		Read:   p.flash,
		Notices: map[string]ui.Flash{
			"shortened": {Text: "The link has a short address."},
			"disabled":  {Text: "Disabled. Visitors see that it is switched off."},
			"enabled":   {Text: "Enabled."},
			"extended":  {Text: "Saved. See below when it ends."},
			"returned":  {Text: "It is back, with its visits."},
		},
	}
}

// flash offers to undo the deletion of a short link.
func (p Pages) flash(c *gin.Context, _ string) (f ui.Flash, found bool, err error) {
	key := c.Query(paramDeleted)
	if len(key) < shortlinks.MinKey || len(key) > shortlinks.MaxKey || url.PathEscape(key) != key {
		return ui.Flash{}, false, nil
	}
	return ui.Flash{
		Text:   "The short link is deleted; visitors see that it is gone.",
		Action: ui.Action{Label: "Undo", Path: "/short/" + key + "/restore"},
	}, true, nil
}
