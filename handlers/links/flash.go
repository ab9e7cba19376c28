package links

import (
	"fmt"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/views/ui"
)

// Query parameters that select a notice.
const (
	paramChange   = "change"   // id of a change that can be undone
	paramAdded    = "saved"    // id of a new link
	paramExisting = "existing" // id of a link that was saved already
	paramShared   = "shared"   // id of a shared link that the user tried to save as private
	paramUntagged = "untagged" // name of a tag that was removed from the link
)

// Flashes returns the notices of links.
func (p Pages) Flashes() pages.Flash {
	return pages.Flash{
		Params: []string{paramChange, paramAdded, paramExisting, paramShared, paramUntagged},
		Read:   p.flash,
		Notices: map[string]ui.Flash{
			"unchanged":     {Text: "Nothing changed. Select at least one link that the action applies to.", Bad: true},
			"undone":        {Text: "Undone."},
			"not_undone":    {Text: "Could not undo: these links have changed since.", Bad: true},
			"tagged":        {Text: "Tags added."},
			"renamed":       {Text: "Tag renamed."},
			"merged":        {Text: "Tags merged."},
			"moved":         {Text: "URL updated."},
			"refreshed":     {Text: "Link refreshed."},
			"not_refreshed": {Text: "The page could not be fetched. Its title and picture stay as they were.", Bad: true},
			"rate_limited":  {Text: "The site limits requests. Try again later.", Bad: true},
		},
	}
}

var pastTense = map[string]string{
	links.ActionDelete: "deleted", links.ActionExpire: "expired", links.ActionRevive: "revived", links.ActionTag: "tagged",
}

func (p Pages) flash(c *gin.Context, here string) (f ui.Flash, found bool, err error) {
	if id := c.Query(paramChange); id != "" {
		ch, err := p.Links.ChangeOf(c.Request.Context(), id)
		if models.CodeOf(err) == models.CodeNotFound { // already undone, or too old
			return ui.Flash{}, true, nil
		}
		if err != nil {
			return ui.Flash{}, true, err
		}
		return ui.Flash{
			Text:   fmt.Sprintf("%s %s.", ui.Plural(ch.Links, "link"), pastTense[ch.Action]),
			Action: ui.Action{Label: "Undo", Path: "/changes/" + ch.ID + "/undo", Back: here},
		}, true, nil
	}
	for _, param := range []string{paramAdded, paramExisting, paramShared} {
		if id := c.Query(param); id != "" {
			l, err := p.Links.Get(c.Request.Context(), id)
			if models.CodeOf(err) == models.CodeNotFound {
				return ui.Flash{}, true, nil
			}
			return savedFlash(l, param), true, err
		}
	}
	return ui.Flash{}, false, nil
}

func savedFlash(l links.Link, param string) ui.Flash {
	f := ui.Flash{Text: "Link saved: " + l.DisplayTitle(), Link: ui.Link{Label: "Details", Path: "/links/" + l.ID}}
	switch param {
	case paramShared:
		f.Text, f.Bad = "This URL is already saved as a shared link. Your tags and notes were not added.", true
	case paramExisting:
		f.Text = "This link is already saved. Your tags and notes were added."
		if l.Expired() {
			f.Text = "This link is already saved, but has expired."
			f.Action = ui.Action{Label: "Revive", Path: "/links/" + l.ID + "/expired", Name: "expired", Value: "false"}
		}
	}
	return f
}

// afterChange returns the path to redirect to after a change, with the notice that offers to undo it.
func afterChange(path string, ch links.Change) string {
	if ch.ID == "" {
		return unchanged(path)
	}
	return pages.With(path, paramChange, ch.ID)
}

// unchanged returns the path to redirect to if no link was changed.
func unchanged(path string) string { return pages.With(path, pages.ParamDone, "unchanged") }
