// Package send sends alert messages to channels: with the services of shoutrrr, by email and to webhooks. It stores and retries nothing.
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

// DefaultTimeout is the default of Options.Timeout.
const DefaultTimeout = 15 * time.Second

// Message is a message to a channel. Its texts are untrusted: they are truncated and escaped for each service.
type Message struct {
	ID       string    // delivery ID, the same for each attempt
	Group    string    // the same for all messages of an alert, so that the last one can resolve the incident; "" for ID
	Title    string    // at most 200 characters of it are sent
	Text     string    // at most 4,000 characters of it are sent
	URL      string    // sent as the last line; "" for none
	Severity string    // critical, error, warning or info; other values count as error
	Event    string    // event kind, such as target.down
	At       time.Time // date of the message, the same for each attempt; zero for now
	Resolved bool      // the alert is resolved
	Mail     Mail
}

// Mail is the part of a message that only emails have.
type Mail struct {
	HTML     string // the text as an HTML page; "" for plain text only
	Subject  string // title of the first message of the group, the subject of all its emails; "" if this is the first one
	First    string // delivery ID of the first message of the group; "" if this is the first one
	Settings string // URL of the page where recipients can be removed; "" for none
}

// Answer is the response of a service that accepted a message.
type Answer struct {
	StatusCode int    // 0 for email
	Text       string // at most 500 characters in one line, without secrets
}

// Options configure a Sender.
type Options struct {
	Relay   *outbound.Relay // makes all connections; the caller closes it
	Timeout time.Duration   // of one message with all its requests; 0 for DefaultTimeout
	Clock   models.Clock    // nil for time.Now
	Log     *slog.Logger    // nil for slog.Default
}

// Sender sends messages. It is safe for concurrent use. Messages do not wait for each other.
type Sender struct{ opts Options }

// New returns a Sender. It fails without a Relay.
func New(o Options) (*Sender, error) {
	if o.Relay == nil {
		return nil, errors.New("send: Options.Relay is nil")
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

// Send sends a message to the service of a shoutrrr URL. It returns when Options.Timeout has passed or ctx ends, whatever the service does.
// The error is an *Error, or the *models.Error of Check. Email to several recipients succeeds if the server accepts one of them. Other
// channels have one recipient.
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
		if recover() != nil { // a panic of a library, whose text may contain the URL
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
