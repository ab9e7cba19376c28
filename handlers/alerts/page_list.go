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
	listSize = 50 // alerts on a page of the list, and open ones before them
	toldSize = 50 // messages of each alert by which the list says who was told
)

// ListPage is the list of alerts, and for htmx its rows.
func (p Pages) ListPage(c *gin.Context) {
	ctx := c.Request.Context()
	v := views.List{Place: views.ListPlace{Token: c.Query("page_token")}}
	var after models.Cursor
	var open, others models.Slice[alerts.Alert]
	var flash ui.Flash
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
		func() (err error) { names, err = p.channelNames(ctx); return },
		func() (err error) { v.Rules, err = p.countRules(ctx); return },
		func() (err error) { v.Open, v.Others, err = p.rows(ctx, open.Items, others.Items, names); return },
		func() (err error) { flash, err = p.Flash(c, v.Place.Path()); return },
	) {
		return
	}
	v.Next, v.Channels = others.Next, len(names)
	v.Page = p.Page("Alerts", section, flash)
	pages.ReplaceURL(c, v.Place.Path())
	p.ShowPart(c, http.StatusOK, views.ListPage(v), views.ListRows(v))
}

// rows are alerts with what they say, and who was told of them.
func (p Pages) rows(ctx context.Context, open, others []alerts.Alert, names map[string]string) (openRows, otherRows []views.Row, err error) {
	told, err := p.Alerts.DeliveriesOf(ctx, slices.Concat(open, others), toldSize)
	if err != nil {
		return nil, nil, err
	}
	for _, a := range open {
		openRows = append(openRows, views.NewRow(a, p.Alerts.Type(a.Event), p.Alerts.Message(a), told[a.Seq], names))
	}
	for _, a := range others {
		otherRows = append(otherRows, views.NewRow(a, p.Alerts.Type(a.Event), p.Alerts.Message(a), told[a.Seq], names))
	}
	return openRows, otherRows, nil
}

// channels are all channels, of which there are few.
func (p Pages) channels(ctx context.Context) ([]alerts.Channel, error) {
	all, err := p.Alerts.Channels(ctx, models.Cursor{}, alerts.MaxChannels)
	return all.Items, err
}

// channelNames are the names of all channels by their ids.
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

// countRules is the number of rules.
func (p Pages) countRules(ctx context.Context) (int, error) {
	all, err := p.Alerts.Rules(ctx, models.Cursor{}, alerts.MaxRules)
	return len(all.Items), err
}

// AlertMe makes a rule of the default events to all channels: of one target, or of everything. It changes nothing if
// a rule already covers them.
func (p Pages) AlertMe(c *gin.Context) {
	ctx, back := c.Request.Context(), p.Back(c, views.RulesPath)
	r := alerts.Rule{Name: "Alert me", Events: p.Alerts.Defaults(), AfterFailures: 1, Enabled: true}
	all, err := p.channels(ctx)
	if err != nil {
		p.Fail(c, err)
		return
	}
	for _, to := range all {
		r.Channels = append(r.Channels, to.ID)
	}
	if len(all) == 0 {
		p.Done(c, nil, views.ChannelsPath, "alert_me_channel")
		return
	}
	if id := c.PostForm("target"); id != "" {
		names, err := p.Subjects.Targets(ctx, []string{id})
		if err == nil && names[id] == "" {
			err = models.NotFound("target")
		}
		if err != nil {
			p.Fail(c, err)
			return
		}
		r.Name = models.Truncate("Alert me: "+names[id], maxName)
		r.Events, r.Scope.Targets = p.Alerts.TargetDefaults(), alerts.List{id}
	}
	known, err := p.Alerts.Rules(ctx, models.Cursor{}, alerts.MaxRules)
	if err == nil && slices.ContainsFunc(known.Items, func(other alerts.Rule) bool { return tells(other, r) }) {
		p.Done(c, nil, back, "alert_me_known")
		return
	}
	if err == nil {
		_, err = p.Alerts.AddRule(ctx, r)
	}
	p.Done(c, err, back, "alert_me")
}

const maxName = 200 // characters of the name of a rule

// tells reports whether a rule covers all events of another one, for everything or for the same target.
func tells(r, of alerts.Rule) bool {
	same := r.Scope.All() || len(of.Scope.Targets) == 1 && slices.Contains(r.Scope.Targets, of.Scope.Targets[0])
	return r.Enabled && same && !slices.ContainsFunc(of.Events, func(k string) bool { return !slices.Contains(r.Events, k) })
}
