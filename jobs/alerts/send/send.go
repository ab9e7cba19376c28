// Package send sends alerts to channels: by the notification services of shoutrrr, by e-mail and by our own webhook.
// It neither stores nor retries anything.
package send

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/outbound"
)

// DefaultTimeout is how long a message may take when Options do not say.
const DefaultTimeout = 15 * time.Second

// Message is what a channel gets. Its texts may come from anyone: each service gets them cut and escaped as it needs.
type Message struct {
	ID       string    // of the delivery, the same each time it is tried
	Group    string    // the same for all messages about one outage, so that the last one can end it; "" = ID
	Title    string    // at most 200 characters of it are sent
	Text     string    // at most 4,000 characters of it are sent
	URL      string    // the last line of the text; "" = none
	Severity string    // critical, error, warning or info; others count as error
	Event    string    // what happened, such as target.down
	At       time.Time // the date of the message, the same each time it is tried; zero = now
	Resolved bool      // it is over
}

// Answer is what a service said when it took a message.
type Answer struct {
	StatusCode int    // 0 = none, as with e-mail
	Text       string // at most 500 characters in one line, without secrets
}

// Options configure a Sender.
type Options struct {
	Relay   *outbound.Relay // makes every connection; the caller closes it
	Timeout time.Duration   // of one message, all its requests included; 0 = DefaultTimeout
	Clock   models.Clock    // nil = time.Now
	Log     *slog.Logger    // gets the channels that a library cannot use; nil = slog.Default
}

// Sender sends messages. It is safe for concurrent use, and no message waits for another one.
type Sender struct{ opts Options }

// New returns a Sender. It fails without a Relay.
func New(o Options) (*Sender, error) {
	if o.Relay == nil {
		return nil, errors.New("send: Options.Relay is missing")
	}
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Sender{o}, nil
}

// Send sends a message to the service that a shoutrrr URL names. It returns by Options.Timeout or when ctx is over,
// whatever the service does. The error is an *Error, or the *models.Error of Check. A mail with several recipients
// is a success if one of them got it. Other channels have one recipient.
func (s *Sender) Send(ctx context.Context, rawURL string, m Message) (_ Answer, err error) {
	c, err := s.parse(rawURL)
	if err != nil {
		return Answer{}, err
	}
	if c.kind == alerts.KindWebhook {
		return Answer{}, unknown()
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	defer func() {
		if recover() != nil { // of a library; its text may hold the URL
			err = s.unusable(ctx, c)
		}
	}()
	switch {
	case c.kind == "smtp":
		return s.email(ctx, c, m)
	case c.workflow != "":
		return s.workflow(ctx, c, m)
	}
	message, params := shape(c, m)
	exchanges, err := s.opts.Relay.Run(ctx, func(t http.RoundTripper) error {
		service, err := c.service(t)
		if err != nil {
			return err
		}
		return service.Send(message, &params)
	})
	return s.outcome(ctx, c, exchanges, err)
}
