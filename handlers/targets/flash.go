package targets

import (
	"fmt"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/targets"
	"linkwatch/views/ui"
)

// The parameters that make a page say what was just done.
const (
	paramAdded   = "added"   // id of a target that was just added
	paramKnown   = "watched" // id of a target that was added before
	paramChecked = "checked" // id of a target that was just checked
	paramResting = "resting" // id of a target that was not checked, for its host asked for a pause
	paramDeleted = "deleted" // id of a target that was just deleted
)

// Flashes are what pages say after actions on targets and status pages.
func (p Pages) Flashes() pages.Flash {
	return pages.Flash{
		Params: []string{paramAdded, paramKnown, paramChecked, paramResting, paramDeleted},
		Read:   p.flash,
		Notices: map[string]ui.Flash{
			"rechecked": {Text: "Saved. It is checked anew within moments."},
			"stopped":   {Text: "Paused. It is not checked until you resume it."},
			"resumed":   {Text: "Resumed. It is checked within moments."},
			"checking":  {Text: "The check takes a while. What it finds shows up here."},
			"restored":  {Text: "It is watched again, with its history."},
			"published": {Text: "The status page is saved."},
			"withdrawn": {Text: "The status page is deleted. Its targets are watched as before."},
		},
	}
}

func (p Pages) flash(c *gin.Context, _ string) (f ui.Flash, found bool, err error) {
	if id := c.Query(paramDeleted); models.CheckID(models.KindTarget, id) == nil {
		return ui.Flash{
			Text:   "The target is deleted, and is not checked any more.",
			Action: ui.Action{Label: "Undo", Path: "/watch/" + id + "/restore"},
		}, true, nil
	}
	for _, param := range []string{paramAdded, paramKnown, paramChecked, paramResting} {
		if id := c.Query(param); id != "" {
			t, err := p.Targets.Get(c.Request.Context(), id)
			if models.CodeOf(err) == models.CodeNotFound {
				return ui.Flash{}, true, nil
			}
			return flashOf(t, param, p.Targets.Now()), true, err
		}
	}
	return ui.Flash{}, false, nil
}

func flashOf(t targets.Target, param string, now models.Time) ui.Flash {
	details := ui.Link{Label: "Details", Path: "/watch/" + t.ID}
	switch {
	case param == paramAdded:
		return ui.Flash{Text: "Watching " + t.DisplayTitle() + ".", Link: details}
	case param == paramKnown:
		return ui.Flash{Text: "You watch this already; nothing was changed.", Link: details}
	case param == paramResting && t.Throttled(now):
		wait := ui.Lasted(t.PostponedUntil.Sub(now.Time))
		return ui.Flash{Text: "The host of this target asked for a pause. It can be checked in " + wait + ".", Bad: true}
	case param == paramResting: // the pause is over meanwhile
		return ui.Flash{}
	case len(t.RecentChecks) == 0: // the check was told of, but is gone
		return ui.Flash{}
	}
	switch last := t.RecentChecks[len(t.RecentChecks)-1]; last.Outcome {
	case targets.DownOutcome:
		return ui.Flash{Text: "Checked: down, " + t.LastError + ".", Bad: true}
	case targets.ThrottledOutcome:
		return ui.Flash{Text: "Checked: " + t.LastError + ".", Bad: true}
	case targets.UpOutcome:
	}
	return ui.Flash{Text: fmt.Sprintf("Checked: up, status %d in %s.", t.LastStatusCode, ui.Latency(t.LastLatencyMS))}
}
