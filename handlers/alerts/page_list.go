package alerts

import (
	"context"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/alerts"
	views "linkwatch/views/alerts"
	"linkwatch/views/ui"
)

const (
	listSize           = 50 // alerts on a page of the list; the first page also has up to 50 firing ones
	deliveriesPerAlert = 50 // messages loaded for each alert, to show its channels
)

// ListPage shows the list of alerts. For htmx it returns the rows.
func (p Pages) ListPage(c *gin.Context) {
	ctx := c.Request.Context()
	v := views.List{Place: views.ListPlace{Token: c.Query("page_token")}}
	var after models.Cursor
	var open, others models.Slice[alerts.Alert]
	var flash ui.Flash
	var channels []alerts.Channel
	var rules []alerts.Rule
	var names map[string]string
	if !p.Read(c,
		func() (err error) { v.Place.State, err = alerts.ParseState(c.Query("state")); return },
		func() (err error) { after, err = models.ParseToken(v.Place.Token); return },
		func() (err error) {
			if v.Place.State == alerts.AnyState && v.Place.Token == "" {
				open, err = p.Alerts.Alerts(ctx, alerts.Firing, models.Cursor{}, listSize)
			}
			return err
		},
		func() (err error) {
			st := v.Place.State
			if st == alerts.AnyState {
				st = alerts.Resolved
			}
			others, err = p.Alerts.Alerts(ctx, st, after, listSize)
			return err
		},
		func() (err error) { v.Counts, err = p.Alerts.Counts(ctx); return },
		func() (err error) { channels, err = p.channels(ctx); names = namesOf(channels); return },
		func() (err error) { rules, err = p.rules(ctx); return },
		func() (err error) { v.Open, v.Others, err = p.rows(ctx, open.Items, others.Items, names); return },
		func() (err error) { flash, err = p.Flash(c, v.Place.Path()); return },
	) {
		return
	}
	v.Next, v.Setup = others.Next, views.NewSetup(usable(ctx, channels), rules)
	v.Page = p.Page("Alerts", section, flash)
	pages.ReplaceURL(c, v.Place.Path())
	p.ShowPart(c, http.StatusOK, views.ListPage(v), views.ListRows(v))
}

// rows returns the rows of alerts with their messages and channels.
func (p Pages) rows(ctx context.Context, open, others []alerts.Alert, names map[string]string) (openRows, otherRows []views.Row, err error) {
	deliveries, err := p.Alerts.DeliveriesOf(ctx, slices.Concat(open, others), deliveriesPerAlert)
	if err != nil {
		return nil, nil, err
	}
	for _, a := range open {
		openRows = append(openRows, views.NewRow(a, p.Alerts.Type(a.Event), p.Alerts.Message(a), deliveries[a.Seq], names))
	}
	for _, a := range others {
		otherRows = append(otherRows, views.NewRow(a, p.Alerts.Type(a.Event), p.Alerts.Message(a), deliveries[a.Seq], names))
	}
	return openRows, otherRows, nil
}

// channels returns all channels, at most alerts.MaxChannels.
func (p Pages) channels(ctx context.Context) ([]alerts.Channel, error) {
	all, err := p.Alerts.Channels(ctx, models.Cursor{}, alerts.MaxChannels)
	return all.Items, err
}

// usable returns the channels that rules of the user can use. Admins also see private channels of others, which they cannot use.
func usable(ctx context.Context, all []alerts.Channel) (some []alerts.Channel) {
	for _, c := range all {
		if c.PrivateTo == "" || c.PrivateTo == models.Owner(ctx) {
			some = append(some, c)
		}
	}
	return some
}

func (p Pages) channelNames(ctx context.Context) (map[string]string, error) {
	all, err := p.channels(ctx)
	return namesOf(all), err
}

func namesOf(all []alerts.Channel) map[string]string {
	names := make(map[string]string, len(all))
	for _, c := range all {
		names[c.ID] = c.Name
	}
	return names
}

// rules returns all rules, at most alerts.MaxRules.
func (p Pages) rules(ctx context.Context) ([]alerts.Rule, error) {
	all, err := p.Alerts.Rules(ctx, models.Cursor{}, alerts.MaxRules)
	return all.Items, err
}

// AlertMe makes sure that channels get the important events: of one target or of everything, on one channel or on all enabled ones.
func (p Pages) AlertMe(c *gin.Context) {
	ctx, back := c.Request.Context(), p.Back(c, views.RulesPath)
	req := alerts.AlertMeRequest{Target: c.PostForm("target"), Channel: c.PostForm("channel")}
	if req.Target != "" {
		found, err := p.Subjects.Targets(ctx, []string{req.Target})
		t, ok := found[req.Target]
		if req.TargetName, req.PrivateTo = t.Name, t.PrivateTo; err == nil && !ok {
			err = models.NotFound("target")
		}
		if err != nil {
			p.Fail(c, err)
			return
		}
	}
	r, result, err := p.Alerts.AlertMe(ctx, req)
	switch {
	case err != nil:
		p.Fail(c, err)
	case result == alerts.AlertMeNoPrivate:
		p.Done(c, nil, views.ChannelsPath, "alert_me_private")
	case result == alerts.AlertMeNoChannel:
		p.Done(c, nil, views.ChannelsPath, "alert_me_channel")
	case result == alerts.AlertMeCovered:
		p.Done(c, nil, back, "alert_me_known")
	default:
		p.SeeOther(c, pages.With(back, alertMeParam(req, result), r.ID))
	}
}
