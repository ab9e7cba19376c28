package shortlinks

import (
	"net/url"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models/shortlinks"
	"linkwatch/views/ui"
)

// Query parameters of the page after an action.
const (
	paramAdded   = "made"    // key of the short link that was added
	paramDeleted = "removed" // key of the short link that was deleted
)

// Flashes returns the messages after actions.
func (p Pages) Flashes() pages.Flash {
	return pages.Flash{
		Params: []string{paramAdded, paramDeleted},
		Read:   p.flash,
		Notices: map[string]ui.Flash{
			"shortened":           {Text: "Short link created."},
			"disabled":            {Text: "Short link disabled."},
			"enabled":             {Text: "Short link enabled."},
			"extended":            {Text: "Expiry changed."},
			"short-link-restored": {Text: "Short link restored."},
		},
	}
}

// flash returns the message after a deletion, with an undo.
func (p Pages) flash(c *gin.Context, _ string) (f ui.Flash, found bool, err error) {
	key := c.Query(paramDeleted)
	if len(key) < shortlinks.MinKey || len(key) > shortlinks.MaxKey || url.PathEscape(key) != key {
		return ui.Flash{}, false, nil
	}
	return ui.Flash{
		Text:   "Short link deleted.",
		Action: ui.Action{Label: "Undo", Path: "/short/" + key + "/restore"},
	}, true, nil
}
