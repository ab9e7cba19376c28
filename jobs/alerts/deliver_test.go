package alerts_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/mail"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/jobs/alerts/send"
	"linkwatch/jobs/alerts/standin"
	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
	"linkwatch/models/modelstest"
)

const (
	delivered = "linkwatch_alert_deliveries_total"
	pending   = "linkwatch_alert_deliveries_pending"
	events    = "linkwatch_alert_events_pending"
	oldest    = "linkwatch_alert_oldest_pending_seconds"
)

func TestBacklogMetrics(t *testing.T) {
	each(t, func(w *world) {
		w.hook("ops")
		w.idle(nil, w.sender())
		want := func(e, p, o float64) {
			w.Helper()
			if ge, gp, seconds := w.metric(events, ""), w.metric(pending, ""), w.metric(oldest, ""); ge != e || gp != p || seconds != o {
				w.Errorf("%v events, %v messages, %v s, want %v, %v, %v", ge, gp, seconds, e, p, o)
			}
		}
		want(0, 0, 0)
		w.happens(event.Started, "a", "b")
		want(2, 0, 0)
		_, err := w.ProcessEvents(w.Context(), 100)
		w.ok(err)
		want(0, 0, 0)
		w.clock.Advance(time.Second)
		_, err = w.QueueMessages(w.Context(), 100)
		w.ok(err)
		w.clock.Advance(90 * time.Second)
		want(0, 2, 90)
	})
}

func TestMetricsCountMessagesByOutcome(t *testing.T) {
	each(t, func(w *world) {
		h := w.hook("ops")
		h.answers(func(n int, res http.ResponseWriter, _ *http.Request) {
			if n < 2 {
				http.Error(res, "try later", http.StatusServiceUnavailable)
			}
		})
		w.worker()
		w.happens(event.Started, "a")
		w.passes(5*time.Second, "it is delivered", func() bool { return w.metric(delivered, "delivered") == 1 })
		h.answers(func(_ int, res http.ResponseWriter, _ *http.Request) { res.WriteHeader(http.StatusGone) })
		w.happens(event.Started, "b")
		w.passes(5*time.Second, "it is given up", func() bool { return w.metric(delivered, "failed") == 1 })
		if retried, waiting := w.metric(delivered, "retried"), w.metric(pending, ""); retried != 2 || waiting != 0 {
			w.Errorf("%v retried, %v wait", retried, waiting)
		}
	})
}

// A message is retried for a day, also if its channel never responds.
func TestMessageExpiresAfterADayOfTimeouts(t *testing.T) {
	each(t, func(w *world) {
		w.timeout = 5 * time.Millisecond
		h := w.hook("ops")
		h.answers(func(_ int, _ http.ResponseWriter, r *http.Request) { never(r) })
		w.worker()
		w.happens(event.Started, "a")
		w.passes(time.Second, "it is tried", func() bool { return w.metric(delivered, "retried") > 0 })
		w.passes(10*time.Minute, "it is given up", func() bool { return w.metric(delivered, "failed") == 1 })
		ds := w.messages()
		if len(ds) != 1 || ds[0].Status != alerts.DeliveryFailed || ds[0].LastError != "The webhook timed out" || ds[0].Attempts < 2 {
			w.Errorf("%+v", ds)
		}
		if took := w.Now().Sub(ds[0].CreatedAt.Time); took < alerts.RetryPeriod {
			w.Errorf("after %v", took)
		}
	})
}

// messages returns all messages, oldest first.
func (w *world) messages() (ds []alerts.Delivery) {
	w.Helper()
	w.ok(w.db.Read(w.Context()).Order("seq").Find(&ds).Error)
	return ds
}

// A message that was delivered after the claim was lost is counted when it is sent again.
func TestMessageAfterALostClaimIsNotCounted(t *testing.T) {
	each(t, func(w *world) {
		h := w.hook("ops")
		counted := make(chan float64, 1)
		h.answers(func(n int, _ http.ResponseWriter, _ *http.Request) {
			if n == 0 {
				modelstest.Exec(w, w.db, "UPDATE channels SET claimed_by = NULL")
			} else {
				counted <- w.metric(delivered, "delivered")
			}
		})
		w.worker()
		w.happens(event.Started, "a")
		w.passes(time.Second, "it is delivered", func() bool { return w.metric(delivered, "delivered") == 1 })
		if n := len(h.requests()); n != 2 || <-counted != 0 {
			w.Errorf("%d requests", n)
		}
		if ds := w.messages(); len(ds) != 1 || ds[0].Attempts != 1 {
			w.Errorf("%+v", ds)
		}
	})
}

// A service gets one message per second after a burst of five. The limiter outlives claims and follows the kind of the channel.
func TestRateLimitOfAChannel(t *testing.T) {
	worker := newWorld(t, modelstest.New(t)).idle(nil, nil)
	service, hook := alerts.Channel{Seq: 1, Kind: "slack"}, alerts.Channel{Seq: 2, Kind: alerts.KindWebhook}
	now := time.Now().Add(time.Hour)
	first := worker.LimiterOf(service)
	if !first.AllowN(now, 5) || first.AllowN(now, 1) {
		t.Error("burst of a service is not 5")
	}
	again := worker.LimiterOf(service)
	if again != first || again.AllowN(now, 1) || !again.AllowN(now.Add(time.Second), 1) || again.AllowN(now.Add(time.Second), 1) {
		t.Error("limiter of a service does not outlive its claim")
	}
	webhook := worker.LimiterOf(hook)
	if !webhook.AllowN(now, 5) || webhook.AllowN(now, 1) || !webhook.AllowN(now.Add(25*time.Millisecond), 5) {
		t.Error("limit of a webhook is not 200 per second")
	}
	hook.Kind = "ntfy"
	if changed := worker.LimiterOf(hook); changed != webhook || changed.Limit() != 1 {
		t.Errorf("limit of a channel that became a service is %v", changed.Limit())
	}
	service.Kind = alerts.KindWebhook
	if changed := worker.LimiterOf(service); changed.Limit() != 200 {
		t.Errorf("limit of a channel that became a webhook is %v", changed.Limit())
	}
}

// The date of a message is the time when it was queued, for every attempt.
func TestMessagesAreDatedWithTheirOwnTime(t *testing.T) {
	each(t, func(w *world) {
		server := standin.New(w)
		sender, err := send.New(send.Options{Relay: server.Relay(w), Log: w.log})
		w.ok(err)
		var to alerts.List
		var cs []alerts.Channel
		for kind, url := range map[string]string{"gotify": "gotify://gotify.example.com/Agotify.token-1", "smtp": "smtp://smtp.example.com:587/?from=a@example.com&to=b@example.com"} {
			c, err := w.AddChannel(w.Context(), alerts.NewChannel{Name: kind, Kind: kind, Address: alerts.Address{URL: url}})
			w.ok(err)
			cs, to = append(cs, c), append(to, c.ID)
		}
		_, err = w.AddRule(w.Context(), alerts.Rule{Events: alerts.List{"target.down"}, Channels: to, AfterFailures: 1, Enabled: true})
		w.ok(err)
		dates := func(what string) (gotify, date time.Time) {
			w.Helper()
			var letters []standin.Letter
			var requests []standin.Request
			modelstest.Eventually(w, what, func() bool {
				letters, requests = append(letters, server.Mail.Letters()...), append(requests, server.Requests()...)
				w.clock.Advance(time.Second)
				return len(letters) == 1 && len(requests) > 0
			})
			m, err := mail.ReadMessage(strings.NewReader(letters[0].Data))
			w.ok(err)
			date, err = m.Header.Date()
			w.ok(err)
			return gotifyDate(w, requests[len(requests)-1]), date
		}

		tries := 0
		server.Instead(func(res http.ResponseWriter, _ *http.Request) {
			if tries++; tries == 1 {
				res.WriteHeader(http.StatusInternalServerError)
				return
			}
			_, _ = fmt.Fprint(res, "{}")
		})
		stop := w.workerWith(sender)
		modelstest.AddEvents(w, w.db, event.Event{
			Kind: "target.down", Phase: event.Started, Severity: event.Critical, SubjectKind: "target", SubjectID: "a", Name: "a", Host: "a.test",
			At: w.Now(), SinceAt: w.Now().Add(-3 * time.Hour), Failures: 1,
		})
		w.passes(5*time.Second, "both are delivered", func() bool { return w.metric(delivered, "delivered") == 2 })
		stop()
		created := w.messages()[0].CreatedAt.Truncate(time.Second)
		if gotify, date := dates("both arrived"); !gotify.Equal(created) || !date.Equal(created) {
			w.Errorf("gotify %v, mail %v, want %v", gotify, date, created)
		}

		worker, now := w.idle(nil, sender), w.Now().Truncate(time.Second)
		for _, c := range cs {
			if ok, answer, err := worker.Test(w.Context(), c); !ok || err != nil {
				w.Fatalf("%s, %v", answer, err)
			}
		}
		if gotify, date := dates("both tests arrived"); !gotify.Equal(now) || !date.Equal(now) {
			w.Errorf("gotify %v, mail %v, want %v", gotify, date, now)
		}
	})
}

func gotifyDate(w *world, r standin.Request) time.Time {
	w.Helper()
	var body struct{ Date string }
	w.ok(json.Unmarshal([]byte(r.Body), &body))
	at, err := time.Parse(time.RFC3339, body.Date)
	w.ok(err)
	return at
}

// If events cannot be processed, reminders and the expiry of earlier messages still work.
func TestFailingEventsDoNotStopOtherSteps(t *testing.T) {
	each(t, func(w *world) {
		h, disabled := w.hook("ops"), w.hook("disabled")
		rules, err := w.Rules(w.Context(), models.Cursor{}, 10)
		w.ok(err)
		for _, r := range rules.Items {
			_, err := w.EditRule(w.Context(), r.ID, func(r *alerts.Rule) { r.RepeatMinutes = 10 })
			w.ok(err)
		}
		w.happens(event.Started, "a")
		_, err = w.ProcessEvents(w.Context(), 100)
		w.ok(err)
		w.clock.Advance(time.Second)
		_, err = w.QueueMessages(w.Context(), 100)
		w.ok(err)
		_, err = w.EditChannel(w.Context(), disabled.ID, alerts.ChannelEdit{Enabled: new(false)})
		w.ok(err)
		w.clock.Advance(alerts.RetryPeriod)
		modelstest.Exec(w, w.db, "ALTER TABLE events RENAME TO lost")
		w.worker()
		modelstest.Eventually(w, "a reminder is sent", func() bool {
			return slices.ContainsFunc(h.requests(), func(g got) bool { return g.Reason == string(alerts.ReasonRepeated) })
		})
		modelstest.Eventually(w, "the old message is given up", func() bool {
			return slices.ContainsFunc(w.messages(), func(d alerts.Delivery) bool { return d.ChannelSeq == disabled.Seq && d.Status == alerts.DeliveryFailed })
		})
	})
}
