package targets

import (
	"fmt"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/targets"
	"linkwatch/views/ui"
)

// The query parameters that make a page show a message about an action.
const (
	paramAdded   = "added"   // id of a target that was just added
	paramKnown   = "watched" // id of a target that existed already
	paramChecked = "checked" // id of a target that was just checked
	paramResting = "resting" // id of a target that was not checked, because of a Retry-After
	paramDeleted = "deleted" // id of a target that was just deleted
)

// Flashes are the messages after actions on targets and status pages.
func (p Pages) Flashes() pages.Flash {
	return pages.Flash{
		Params: []string{paramAdded, paramKnown, paramChecked, paramResting, paramDeleted},
		Read:   p.flash,
		Notices: map[string]ui.Flash{
			"rechecked": {Text: "Saved. The next check runs shortly."},
			"stopped":   {Text: "Target paused."},
			"resumed":   {Text: "Target resumed. The next check runs shortly."},
			"checking":  {Text: "The check is still running. Its result appears here."},
			"restored":  {Text: "Target restored."},
			"published": {Text: "Status page saved."},
			"withdrawn": {Text: "Status page deleted. Its targets are not affected."},
		},
	}
}

func (p Pages) flash(c *gin.Context, _ string) (f ui.Flash, found bool, err error) {
	if id := c.Query(paramDeleted); models.CheckID(models.KindTarget, id) == nil {
		return ui.Flash{
			Text:   "Target deleted.",
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
		return ui.Flash{Text: "Target added: " + t.DisplayTitle() + ".", Link: details}
	case param == paramKnown:
		return ui.Flash{Text: "This URL is already a target. Nothing was changed.", Link: details}
	case param == paramResting && t.Throttled(now):
		wait := ui.LongDuration(t.PostponedUntil.Sub(now.Time))
		return ui.Flash{Text: "This target is rate limited. Try again in " + wait + ".", Bad: true}
	case param == paramResting: // it has ended since
		return ui.Flash{}
	case len(t.RecentChecks) == 0: // the parameter is wrong, or the check was deleted
		return ui.Flash{}
	}
	switch last := t.RecentChecks[len(t.RecentChecks)-1]; last.Outcome {
	case targets.DownOutcome:
		return ui.Flash{Text: "Checked: down, " + t.LastError + ".", Bad: true}
	case targets.ThrottledOutcome:
		return ui.Flash{Text: "Checked: " + t.LastError + ".", Bad: true}
	case targets.UpOutcome:
	}
	return ui.Flash{Text: fmt.Sprintf("Checked: up, status %d in %s.", t.LastStatusCode, ui.ResponseTime(t.LastLatencyMS))}
}
