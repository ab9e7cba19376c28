package alerts_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
	"linkwatch/models/targets"
)

const (
	// hostile runs as a script wherever it is not escaped.
	hostile = `<script>alert(1)</script>"><img src=x onerror=alert(2)>`
	// secretText is in every channel address of the tests. No page may show it.
	secretText = "SECRET-TOKEN"
)

// pagesApp is the program with its alert store and fake services.
type pagesApp struct {
	*apptest.App
	Alerts *alerts.Store
	Sender *pageSender
}

func newPagesApp(t *testing.T, change ...func(*apptest.Setup)) *pagesApp {
	t.Helper()
	a := &pagesApp{App: apptest.New(t, change...), Sender: &pageSender{}}
	a.Alerts = a.Systems.Alerts.Store
	a.Systems.Alerts.Deps.Sender = a.Sender
	return a
}

type pageSender struct {
	delivered bool
	answer    string
	err       error
	refused   error // result of Check
	checked   []string
}

func (s *pageSender) Check(url string) (string, error) {
	s.checked = append(s.checked, url)
	scheme, _, found := strings.Cut(url, "://")
	switch {
	case s.refused != nil:
		return "", s.refused
	case !found || scheme == "ftp":
		return "", models.Invalid("url", "is not the URL of a service")
	case scheme == "http" || scheme == "https":
		return alerts.KindWebhook, nil
	}
	return scheme, nil
}

func (s *pageSender) Test(context.Context, alerts.Channel) (bool, string, error) {
	return s.delivered, s.answer, s.err
}

func (a *pagesApp) channel(name string) alerts.Channel {
	a.Helper()
	c, err := a.Alerts.AddChannel(a.Context(), alerts.NewChannel{Name: name, Kind: alerts.KindWebhook, Address: alerts.Address{URL: "https://hooks.test/" + secretText}})
	a.Must(err)
	return c
}

// rule adds a rule that sends the default events to a channel.
func (a *pagesApp) rule(name string, to alerts.Channel) alerts.Rule {
	a.Helper()
	r, err := a.Alerts.AddRule(a.Context(), alerts.Rule{Name: name, Events: a.Alerts.DefaultEvents(), Channels: alerts.List{to.ID}, AfterFailures: 1, Enabled: true})
	a.Must(err)
	return r
}

// addEvent stores an event of a target and queues its messages.
func (a *pagesApp) addEvent(phase event.Phase, target, name, detail string) {
	a.Helper()
	now := models.At(a.Clock.Now())
	a.Must(a.DB.Write(a.Context(), func(tx *gorm.DB) error {
		return event.Add(tx, event.Event{
			Kind: targets.EventDown, Phase: phase, Severity: event.Critical, SubjectKind: "target", SubjectID: target, Name: name, URL: "https://" + target + ".test/", Host: target + ".test",
			At: now, Failures: 1, Detail: detail,
		})
	}))
	_, err := a.Alerts.ProcessEvents(a.Context(), 100)
	a.Must(err)
	a.Clock.Advance(2 * time.Second)
	_, err = a.Alerts.QueueMessages(a.Context(), 100)
	a.Must(err)
}

// down creates an alert of a target that is down.
func (a *pagesApp) down(name, detail string) alerts.Alert {
	a.Helper()
	a.addEvent(event.Started, models.NewID(models.KindTarget), name, detail)
	page, err := a.Alerts.Alerts(a.Context(), alerts.Firing, models.Cursor{}, 1)
	a.Must(err)
	if len(page.Items) != 1 {
		a.Fatal("there is no open alert")
	}
	return page.Items[0]
}

// many creates channels, rules, windows and alerts. Half of the alerts are resolved.
func (a *pagesApp) many(from, n int) {
	a.Helper()
	for i := from; i < from+n; i++ {
		to := a.channel(fmt.Sprintf("Channel %d", i))
		a.rule(fmt.Sprintf("Rule %d", i), to)
		starts := models.At(a.Clock.Now())
		_, err := a.Alerts.AddMaintenance(a.Context(), alerts.Maintenance{Name: fmt.Sprintf("Window %d", i), Scope: alerts.Scope{Tags: alerts.List{"x"}}, StartsAt: starts, EndsAt: starts.Add(time.Hour)})
		a.Must(err)
		one := a.down(fmt.Sprintf("Target %d", i), "status 500")
		if i%2 == 0 {
			a.addEvent(event.Ended, one.SubjectID, one.SubjectName, "")
		}
		a.Clock.Advance(2 * time.Minute)
	}
}

// noSecret fails the test if a page contains the address of a channel.
func noSecret(t *testing.T, p apptest.Page) {
	t.Helper()
	if strings.Contains(p.HTML, secretText) {
		t.Errorf("%s shows a secret", p.Request.URL)
	}
	apptest.WantCount(t, p, "main script, main img", 0)
}
