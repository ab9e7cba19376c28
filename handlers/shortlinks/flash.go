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
	paramMade    = "made"    // key of a short link that was just made
	paramRemoved = "removed" // key of a short link that was just deleted
)

// Flashes are what pages say after actions on short links.
func (p Pages) Flashes() pages.Flash {
	return pages.Flash{
		Params: []string{paramMade, paramRemoved},
		Read:   deleted,
		Notices: map[string]ui.Flash{
			"shortened": {Text: "The link has a short address."},
			"disabled":  {Text: "Disabled. Visitors see that it is switched off."},
			"enabled":   {Text: "Enabled."},
			"extended":  {Text: "Saved. See below when it ends."},
			"returned":  {Text: "It is back, with its visits."},
		},
	}
}

// deleted offers to undo the deletion of a short link.
func deleted(c *gin.Context, _ string) (ui.Flash, error) {
	key := c.Query(paramRemoved)
	if len(key) < shortlinks.MinKey || len(key) > shortlinks.MaxKey || url.PathEscape(key) != key {
		return ui.Flash{}, nil
	}
	return ui.Flash{
		Text:   "The short link is deleted; visitors see that it is gone.",
		Action: ui.Action{Label: "Undo", Path: "/short/" + key + "/restore"},
	}, nil
}
