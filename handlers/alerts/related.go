package alerts

import (
	"strings"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/alerts"
	views "linkwatch/views/alerts"
)

// soon is how long before its start a maintenance window is shown on the page of a target.
const soon = 7 * models.Day

// Related returns the alerts section on the page of a target: open alerts, maintenance, matching rules and “Alert me”.
func (p Pages) Related(c *gin.Context, s pages.Subject) (pages.RelatedView, error) {
	id, is := strings.CutPrefix(s.Path, "/watch/")
	if !is {
		return pages.RelatedView{}, nil
	}
	ctx := c.Request.Context()
	v := views.TargetAlerts{Target: id, Path: s.Path, PrivateTo: s.PrivateTo, Mine: s.PrivateTo == "" || s.PrivateTo == models.Owner(ctx), Now: p.Clock.Now().Time}
	open, err := p.Alerts.OpenForTarget(ctx, id)
	if err != nil {
		return pages.RelatedView{}, err
	}
	for _, a := range open {
		v.Open = append(v.Open, views.Row{Alert: a, Message: p.Alerts.Message(a)})
	}
	target := alerts.Target{ID: id, CanonicalURL: s.CanonicalURL, PrivateTo: s.PrivateTo}
	if v.Rules, err = p.Alerts.RulesForTarget(ctx, target); err != nil {
		return pages.RelatedView{}, err
	}
	if v.Windows, err = p.Alerts.WindowsForTarget(ctx, target, soon); err != nil {
		return pages.RelatedView{}, err
	}
	v.Channels, err = p.channels(ctx)
	return pages.RelatedView{Section: views.TargetSection(v)}, err
}
