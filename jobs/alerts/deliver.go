package alerts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"linkwatch/jobs"
	"linkwatch/jobs/alerts/send"
	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/lease"
)

// Rate limits of a channel. Services such as Slack and Telegram accept one message per second. Webhooks are the operator's own programs.
var (
	serviceRate = rate.Every(time.Second)
	webhookRate = rate.Limit(200)
)

const burst = 5 // messages

// limiterOf returns the rate limiter of a channel, with the limit of its current kind. Limiters outlive claims, because a channel with a
// slow trickle of messages is claimed again for each one.
func (w *Worker) limiterOf(c alerts.Channel) *rate.Limiter {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.limits[c.Seq]
	if l == nil {
		if len(w.limits) >= 2*alerts.MaxChannels { // most of them were deleted
			clear(w.limits)
		}
		l = rate.NewLimiter(serviceRate, burst)
		w.limits[c.Seq] = l
	}
	limit := serviceRate
	if c.Kind == alerts.KindWebhook {
		limit = webhookRate
	}
	if l.Limit() != limit {
		l.SetLimit(limit)
	}
	return l
}

// channel sends the messages of a claimed channel in order until none is left, one fails, or a context ends. Then it releases the
// channel.
func (w *Worker) channel(taking, working, leased context.Context, holder lease.ID, c alerts.Channel) {
	ctx, cancel := context.WithCancel(working)
	defer cancel()
	defer context.AfterFunc(leased, cancel)() // leased ends when the lease is lost; another instance may then send
	for taking.Err() == nil && ctx.Err() == nil {
		now, d, ok, err := w.Store.Next(ctx, holder, c.Seq)
		if err != nil || !ok {
			w.failed("load of message failed", c, err)
			break
		}
		if w.limiterOf(now).Wait(taking) != nil {
			break
		}
		a := attemptOf(w.send(ctx, now, d))
		if ctx.Err() != nil { // the message may have arrived; it is sent again with the same ID
			break
		}
		if err := w.record(ctx, holder, now, d, a); err != nil {
			w.failed("record of delivery attempt failed", c, err)
			break
		}
	}
	w.release(working, holder, c)
}

// release releases a channel. If that fails, the next claim releases it.
func (w *Worker) release(working context.Context, holder lease.ID, c alerts.Channel) {
	w.mu.Lock()
	delete(w.running, c.Seq)
	w.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(working), recordTime)
	defer cancel()
	if err := w.Store.ReleaseChannel(ctx, holder, c); err != nil {
		w.failed("release of channel failed", c, err)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.unsure = true
	}
}

func (w *Worker) failed(what string, c alerts.Channel, err error) {
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, alerts.ErrUnclaimed) {
		jobs.LogError(w.Log, what, fmt.Errorf("channel %s: %w", c.ID, err))
	}
}

// record stores the result of an attempt.
func (w *Worker) record(ctx context.Context, holder lease.ID, c alerts.Channel, d alerts.Delivery, a alerts.Attempt) error {
	stored, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	gaveUp, err := w.Store.Record(stored, holder, c, d, a)
	switch {
	case err != nil:
		return err
	case a.Error == "":
		w.metrics.add("delivered", 1)
	case gaveUp:
		w.metrics.add("failed", 1)
	default:
		w.metrics.add("retried", 1)
	}
	if a.Error != "" {
		w.Log.Warn("message delivery failed", "channel_id", c.ID, "delivery_id", d.ID, "attempt", d.Attempts+1, "error", a.Error)
	}
	return nil
}

func (w *Worker) send(ctx context.Context, c alerts.Channel, d alerts.Delivery) error {
	to, err := w.Store.Address(c)
	if err != nil {
		return err
	}
	if c.Kind == alerts.KindWebhook {
		_, err = w.Sender.SendWebhook(ctx, to.URL, to.Secret, d.ID, []byte(d.Body))
		return err
	}
	var n alerts.Notification
	if err := json.Unmarshal([]byte(d.Body), &n); err != nil {
		return fmt.Errorf("decode message: %w", err)
	}
	_, err = w.Sender.Send(ctx, to.URL, w.message(ctx, c, n, d.ID, d.CreatedAt.Time))
	return err
}

// message converts a notification to a message for the service of a channel. at is when it was queued.
func (w *Worker) message(
	ctx context.Context, c alerts.Channel, n alerts.Notification, id string, at time.Time,
) send.Message {
	links := w.Store.Links(n)
	m := send.Message{
		ID: id, Group: n.Thread(), Title: n.Title(), Text: n.Text(links...), Severity: n.Severity, Event: n.Event, At: at,
		Resolved: n.Over() && n.PartOf == nil, // after a partial recovery, the incident stays open
	}
	if n.URL != nil {
		m.URL = *n.URL
	}
	if c.Kind == "smtp" {
		m.Mail = w.mail(ctx, c, n, id, links)
	}
	return m
}

// mail returns the parts of a message that only emails have. After an error they are left out, because the message
// matters more.
func (w *Worker) mail(
	ctx context.Context, c alerts.Channel, n alerts.Notification, id string, links []alerts.Link,
) send.Mail {
	m := send.Mail{Settings: w.Store.ChannelURL(c.ID)}
	first, firstID, ok, err := w.Store.First(ctx, c.Seq, n.Thread())
	w.failed("load of first message failed", c, err)
	if ok && firstID != id {
		m.Subject, m.First = first.Title(), firstID
	}
	if w.HTML != nil {
		m.HTML, err = w.HTML(ctx, n, links)
		w.failed("rendering of email failed", c, err)
	}
	return m
}

// attemptOf converts the error of a send to an Attempt.
func attemptOf(err error) alerts.Attempt {
	if err == nil {
		return alerts.Attempt{}
	}
	a := alerts.Attempt{Error: err.Error()}
	if e, ok := errors.AsType[*send.Error](err); ok {
		a.RetryAfter, a.Gone, a.Refused = e.RetryAfter, e.Kind == send.Gone, e.Kind == send.Refused
	} else if m, ok := errors.AsType[*models.Error](err); ok {
		a.Error = m.Detail
	}
	return a
}

// Check parses the URL of a channel and returns its kind. The error is CodeInvalid ("url").
func (w *Worker) Check(url string) (kind string, err error) { return w.Sender.Check(url) }

// Test sends a test message to a channel. delivered reports whether the service accepted it. answer is its response, or the reason of the
// failure. Errors are CodeBlocked if the address guard refuses the service, CodeConflict if the address of the channel cannot be
// decrypted, and the error of ctx.
func (w *Worker) Test(ctx context.Context, c alerts.Channel) (delivered bool, answer string, err error) {
	to, err := w.Store.Address(c)
	if err != nil {
		return false, "", err
	}
	n, id := w.Store.TestNotification(), models.NewID(models.KindDelivery)
	var said send.Answer
	if c.Kind == alerts.KindWebhook {
		body, e := json.Marshal(n)
		if e != nil {
			return false, "", fmt.Errorf("encode test message: %w", e)
		}
		said, err = w.Sender.SendWebhook(ctx, to.URL, to.Secret, id, body)
	} else {
		said, err = w.Sender.Send(ctx, to.URL, w.message(ctx, c, n, id, w.Store.Now().Time))
	}
	if ctx.Err() != nil {
		return false, "", ctx.Err()
	}
	if e, ok := errors.AsType[*send.Error](err); ok && e.Kind == send.Blocked {
		return false, "", &models.Error{Code: models.CodeBlocked, Detail: e.Error()}
	}
	if err != nil {
		return false, attemptOf(err).Error, nil
	}
	answer = said.Text
	if said.StatusCode != 0 {
		answer = strings.TrimSpace(fmt.Sprintf("%d %s\n%s", said.StatusCode, http.StatusText(said.StatusCode), answer))
	}
	return true, models.CleanLine(answer), nil
}
