package send

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"linkwatch/outbound"
)

// Kind classifies failures by what to do about them.
type Kind string

// The kinds of failure.
const (
	Refused     Kind = "refused"     // 4xx, or a response that reports an error: retries fail too unless the channel is changed
	Gone        Kind = "gone"        // 410: the recipient no longer exists
	Unavailable Kind = "unavailable" // 5xx, 408, 425 or 429, or no connection: a retry may succeed
	Timeout     Kind = "timeout"     // no response in time; the message may have arrived
	Blocked     Kind = "blocked"     // the address guard refused the address; nothing was sent
	Redirected  Kind = "redirected"  // 3xx, which is not followed
	Invalid     Kind = "invalid"     // the service cannot use the URL; nothing was sent
)

// Error is the reason why a message was not delivered. It contains no token, password or URL, so it may be stored and shown.
type Error struct {
	Kind       Kind
	StatusCode int           // 0 if there was no response
	RetryAfter time.Duration // at most an hour; 0 if the service did not send one
	Answer     string        // response of the service, as in Answer.Text
	text       string
	err        error
}

// Error returns a text such as "Slack returned 404: no_service".
func (e *Error) Error() string { return e.text }

// Unwrap returns context.Canceled or context.DeadlineExceeded if one of them ended the request, otherwise nil.
func (e *Error) Unwrap() error { return e.err }

// outcome returns the response to the last request, or an *Error for the first failed one. err is the error of the library. Its text is
// not used, because libraries quote URLs.
func (s *Sender) outcome(ctx context.Context, c channel, exchanges []outbound.Exchange, err error) (Answer, error) {
	for _, e := range exchanges {
		if e.Failed() {
			return Answer{}, c.failure(ctx, e)
		}
	}
	if len(exchanges) == 0 {
		if ctx.Err() != nil {
			return Answer{}, c.ended(ctx)
		}
		return Answer{}, s.unusable(ctx, c)
	}
	last := exchanges[len(exchanges)-1]
	said := c.said(last)
	if err == nil && c.accepted(last.Body) {
		return Answer{StatusCode: last.StatusCode, Text: said}, nil
	}
	if ctx.Err() != nil {
		return Answer{}, c.ended(ctx)
	}
	text := c.label + " returned " + strconv.Itoa(last.StatusCode) + ", but did not confirm the message"
	return Answer{}, &Error{Kind: Refused, StatusCode: last.StatusCode, Answer: said, text: with(text, said)}
}

// unusable returns the error of a channel whose URL the library rejects.
func (s *Sender) unusable(ctx context.Context, c channel) *Error {
	s.opts.Log.WarnContext(ctx, "channel rejected by notification library", "kind", c.kind)
	return &Error{Kind: Invalid, text: c.label + " was not contacted because the channel URL cannot be used. Check the channel."}
}

// accepted reports whether the body of a 2xx response confirms the message. The library does not check it.
func (c channel) accepted(body []byte) bool {
	switch c.kind {
	case "generic", "webhook":
		return true
	case "telegram":
		var answer struct {
			OK bool `json:"ok"`
		}
		return json.Unmarshal(body, &answer) == nil && answer.OK
	case "teams":
		return c.workflow != "" || strings.TrimSpace(string(body)) == "1"
	}
	return !isHTML(body)
}

// failure returns the error of a failed request.
func (c channel) failure(ctx context.Context, e outbound.Exchange) *Error {
	if e.Err != nil {
		return c.unsent(ctx, e.Err)
	}
	said := c.said(e)
	out := &Error{Kind: Refused, StatusCode: e.StatusCode, RetryAfter: e.RetryAfter, Answer: said}
	out.text = with(c.label+" returned "+strconv.Itoa(e.StatusCode), said)
	switch {
	case e.StatusCode/100 == 3:
		out.Kind = Redirected
		out.text = c.label + " returned " + strconv.Itoa(e.StatusCode) + ", a redirect. Linkwatch does not follow redirects. Use the final URL."
	case e.StatusCode == http.StatusGone:
		out.Kind = Gone
	case e.StatusCode >= 500, e.StatusCode == http.StatusRequestTimeout, e.StatusCode == http.StatusTooEarly, e.StatusCode == http.StatusTooManyRequests:
		out.Kind = Unavailable
	}
	return out
}

// unsent returns the error of a request without a response.
func (c channel) unsent(ctx context.Context, why *outbound.Error) *Error {
	switch {
	case ctx.Err() != nil || why.Kind == outbound.KindTimeout || why.Kind == outbound.KindCanceled:
		return c.ended(ctx)
	case why.Kind == outbound.KindBlocked:
		return &Error{Kind: Blocked, text: c.label + " points to a private address. Use a public one, or allow it in OUTBOUND_ALLOW_CIDRS."}
	}
	return &Error{Kind: Unavailable, text: c.label + " cannot be reached: " + why.Error()}
}

// ended returns the error of a message that timed out or was canceled.
func (c channel) ended(ctx context.Context) *Error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return &Error{Kind: Timeout, text: "Linkwatch stopped before " + strings.ToLower(c.label[:1]) + c.label[1:] + " answered", err: context.Canceled}
	}
	return &Error{Kind: Timeout, text: c.label + " timed out", err: context.DeadlineExceeded}
}

// with appends the response of a service to a text, if there is one.
func with(text, said string) string {
	if said == "" {
		return text
	}
	return text + ": " + said
}
