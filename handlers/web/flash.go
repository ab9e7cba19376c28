package web

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/views/ui"
)

// notices are what a page says after an action, by the key in its address.
var notices = map[string]ui.Flash{
	"nothing":   {Text: "Nothing to do: no link was selected, or all were so already.", Bad: true},
	"undone":    {Text: "Undone."},
	"notundone": {Text: "Nothing could be taken back: the links were saved again meanwhile, or are gone.", Bad: true},
	"annotated": {Text: "Saved."},
	"tagged":    {Text: "Tags added."},
	"renamed":   {Text: "Tag renamed."},
	"merged":    {Text: "Tags merged."},
	"moved":     {Text: "The new address is in use."},
	"asked":     {Text: "The job starts within moments."},
	"refreshed": {Text: "Fetched again."},
	"kept":      {Text: "The page could not be fetched; what was known of it is kept.", Bad: true},
	"paused":    {Text: "The site asked for a pause. Try again later.", Bad: true},
	"edited":    {Text: "Saved."},
	"rechecked": {Text: "Saved. It is checked anew within moments."},
	"stopped":   {Text: "Paused. It is not checked until you resume it."},
	"resumed":   {Text: "Resumed. It is checked within moments."},
	"checking":  {Text: "The check takes a while. What it finds shows up here."},
	"restored":  {Text: "It is watched again, with its history."},
	"shortened": {Text: "The link has a short address."},
	"disabled":  {Text: "Disabled. Visitors see that it is switched off."},
	"enabled":   {Text: "Enabled."},
	"extended":  {Text: "Saved. See below when it ends."},
	"returned":  {Text: "It is back, with its visits."},
	"published": {Text: "The status page is saved."},
	"withdrawn": {Text: "The status page is deleted. Its targets are watched as before."},
}

var changed = map[string]string{
	links.ActionDelete: "deleted", links.ActionExpire: "expired", links.ActionRevive: "revived", links.ActionTag: "tagged",
}

// flash is what the page at the request's address has to say about the last
// action, with the way to take it back.
func (p *Pages) flash(c *gin.Context, here string) (ui.Flash, error) {
	if id := c.Query(paramChange); id != "" {
		ch, err := p.Links.ChangeOf(c.Request.Context(), id)
		if models.CodeOf(err) == models.CodeNotFound { // undone meanwhile, or too old
			return ui.Flash{}, nil
		}
		if err != nil {
			return ui.Flash{}, err
		}
		return ui.Flash{
			Text:   fmt.Sprintf("%s %s.", ui.Plural(ch.Links, "link"), changed[ch.Action]),
			Action: ui.Action{Label: "Undo", Path: "/changes/" + ch.ID + "/undo", Back: here},
		}, nil
	}
	for _, param := range []string{paramSaved, paramKnown} {
		if id := c.Query(param); id != "" {
			l, err := p.Links.Get(c.Request.Context(), id)
			if models.CodeOf(err) == models.CodeNotFound {
				return ui.Flash{}, nil
			}
			return savedFlash(l, param), err
		}
	}
	if f, ok := deletedShortLink(c.Query(paramRemoved)); ok {
		return f, nil
	}
	return p.targetFlash(c)
}

func savedFlash(l links.Link, param string) ui.Flash {
	f := ui.Flash{Text: "Saved: " + l.Title, Link: ui.Link{Label: "Details", Path: "/links/" + l.ID}}
	if l.Title == "" {
		f.Text = "Saved: " + l.URL
	}
	if param == paramKnown {
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
		return with(path, paramDone, "nothing")
	}
	return with(path, paramChange, ch.ID)
}

// Undo takes a change back.
func (p *Pages) Undo(c *gin.Context) {
	ch, err := p.Links.Undo(c.Request.Context(), c.Param("id"))
	if err != nil {
		p.fail(c, err)
		return
	}
	done := "undone"
	if ch.Links == 0 {
		done = "notundone"
	}
	p.seeOther(c, with(back(c, "/links"), paramDone, done))
}

func asModelError(err error) (*models.Error, bool) { return errors.AsType[*models.Error](err) }

// query is the query of an address of ours.
func query(path string) url.Values {
	u, err := url.Parse(path)
	if err != nil {
		return url.Values{}
	}
	return u.Query()
}
