package alerts_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
)

// The URL and the secret of the webhooks of tests. No response may contain either.
const (
	hook   = "https://hooks.test/canary-of-a-path"
	secret = "canary-of-a-secret"
)

// sender is a fake sender whose results the test sets.
type sender struct {
	delivered bool
	answer    string
	err       error
}

func (*sender) Check(url string) (kind string, err error) {
	switch scheme, _, ok := strings.Cut(url, "://"); {
	case !ok:
		return "", models.Invalid("url", "cannot be read")
	case scheme == "http" || scheme == "https":
		return alerts.KindWebhook, nil
	default:
		return scheme, nil
	}
}

func (s *sender) Test(context.Context, alerts.Channel) (delivered bool, answer string, err error) {
	return s.delivered, s.answer, s.err
}

// world is the program with a fake sender.
type world struct {
	*apptest.App
	Alerts *alerts.Store
	Sender *sender
}

func each(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	w := &world{App: apptest.New(t, apptest.Set("PUBLIC_URL", "https://lw.test")), Sender: &sender{delivered: true}}
	w.Alerts, w.Systems.Alerts.Deps.Sender = w.Systems.Alerts.Store, w.Sender
	test(w)
}

// add adds an item by the API and returns its path and id.
func (w *world) add(list, body string) (at, id string) {
	w.Helper()
	a := w.Do("POST", list, body)
	id = a.Want(201)["id"].(string)
	if at = list + "/" + id; a.Header.Get("Location") != at {
		w.Errorf("%s is at %q", at, a.Header.Get("Location"))
	}
	return at, id
}

func (w *world) channel() (at, id string) {
	w.Helper()
	return w.add("/v1/channels", `{"url":"`+hook+`","secret":"`+secret+`"}`)
}

// rule adds a rule for target.down.
func (w *world) rule(channel string) (at, id string) {
	w.Helper()
	return w.add("/v1/alert-rules", `{"events":["target.down","target.up"],"channels":["`+channel+`"]}`)
}

// down creates and sends the alert of a target that is down, and returns its path.
func (w *world) down(host string) (at string) {
	w.Helper()
	w.happen(event.Started, host)
	page, err := w.Alerts.Alerts(w.Context(), alerts.Firing, models.Cursor{}, 1)
	w.Must(err)
	if len(page.Items) == 0 {
		w.Fatal("there is no alert")
	}
	return "/v1/alerts/" + page.Items[0].ID
}

func (w *world) up(host string) {
	w.Helper()
	w.happen(event.Ended, host)
}

// happen stores and processes an event of the target of a host, and sends due messages one second later.
func (w *world) happen(p event.Phase, host string) {
	w.Helper()
	now := w.Alerts.Now()
	e := event.Event{
		Kind: "target.down", Phase: p, Severity: event.Critical, SubjectKind: "target", SubjectID: "t_" + (host + strings.Repeat("x", 22))[:22], Name: "Shop <" + host + ">",
		URL: "https://" + host + "/", Host: host, At: now, SinceAt: now, Detail: "unexpected status 500",
	}
	w.Must(w.DB.Write(w.Context(), func(tx *gorm.DB) error { return event.Add(tx, e) }))
	_, err := w.Alerts.ProcessEvents(w.Context(), 100)
	w.Must(err)
	w.Clock.Advance(time.Second)
	_, err = w.Alerts.QueueMessages(w.Context(), 100)
	w.Must(err)
}

// now returns the time as formatted in responses.
func (w *world) now() string { return w.Alerts.Now().Format(time.RFC3339Nano) }

// secretless fails the test if a response contains the address of a channel.
func (w *world) secretless(answers ...apptest.Response) {
	w.Helper()
	for _, a := range answers {
		if strings.Contains(a.Body, "canary") || strings.Contains(a.Body, "hooks.test") {
			w.Errorf("%s holds a secret: %s", a.Call, a.Body)
		}
	}
}
