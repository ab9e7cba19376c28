package links

import (
	"fmt"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/views/ui"
)

// The parameters that make a page say what was just done.
const (
	paramChange   = "change"   // id of a change that can be undone
	paramAdded    = "saved"    // id of a link that was just saved
	paramKnown    = "known"    // id of a link that was saved before
	paramShared   = "shared"   // id of a link that was to be saved as a private one, and is shared
	paramUntagged = "untagged" // name of a tag that was just taken off the link
)

// Flashes are what pages say after actions on links.
func (p Pages) Flashes() pages.Flash {
	return pages.Flash{
		Params: []string{paramChange, paramAdded, paramKnown, paramShared, paramUntagged},
		Read:   p.flash,
		Notices: map[string]ui.Flash{
			"nothing":   {Text: "Nothing to do: no link was selected, or all were so already.", Bad: true},
			"undone":    {Text: "Undone."},
			"notundone": {Text: "Nothing could be taken back: the links were saved again meanwhile, or are gone.", Bad: true},
			"annotated": {Text: "Saved."},
			"tagged":    {Text: "Tags added."},
			"renamed":   {Text: "Tag renamed."},
			"merged":    {Text: "Tags merged."},
			"moved":     {Text: "The new address is in use."},
			"refreshed": {Text: "Fetched again."},
			"kept":      {Text: "The page could not be fetched; what was known of it is kept.", Bad: true},
			"paused":    {Text: "The site asked for a pause. Try again later.", Bad: true},
		},
	}
}

var changed = map[string]string{
	links.ActionDelete: "deleted", links.ActionExpire: "expired", links.ActionRevive: "revived", links.ActionTag: "tagged",
}

func (p Pages) flash(c *gin.Context, here string) (f ui.Flash, found bool, err error) {
	if id := c.Query(paramChange); id != "" {
		ch, err := p.Links.ChangeOf(c.Request.Context(), id)
		if models.CodeOf(err) == models.CodeNotFound { // undone meanwhile, or too old
			return ui.Flash{}, true, nil
		}
		if err != nil {
			return ui.Flash{}, true, err
		}
		return ui.Flash{
			Text:   fmt.Sprintf("%s %s.", ui.Plural(ch.Links, "link"), changed[ch.Action]),
			Action: ui.Action{Label: "Undo", Path: "/changes/" + ch.ID + "/undo", Back: here},
		}, true, nil
	}
	for _, param := range []string{paramAdded, paramKnown, paramShared} {
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
	f := ui.Flash{Text: "Saved: " + l.DisplayTitle(), Link: ui.Link{Label: "Details", Path: "/links/" + l.ID}}
	switch param {
	case paramShared:
		f.Text, f.Bad = "This link is shared already. Your tags and notes were not added to it.", true
	case paramKnown:
		f.Text = "You have this link already; what you added is with it now."
		if l.Expired() {
			f.Text = "You have this link already, but it has expired."
			f.Action = ui.Action{Label: "Revive", Path: "/links/" + l.ID + "/expired", Name: "expired", Value: "false"}
		}
	}
	return f
}

// afterChange is where to go once a change is made: back, with the offer to undo it.
func afterChange(path string, ch links.Change) string {
	if ch.ID == "" {
		return nothing(path)
	}
	return pages.With(path, paramChange, ch.ID)
}

// nothing is where to go if there was nothing to change.
func nothing(path string) string { return pages.With(path, pages.ParamDone, "nothing") }
