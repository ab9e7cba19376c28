package engine

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"linkwatch/outbound"
)

const (
	networkFix  = "Check that this server can reach it. Linkwatch retries later."
	protocolFix = "Check the endpoint in the settings, and that no proxy intercepts requests."
)

// Failure returns the error of a request without a usable response. service starts a sentence, such as "Google"; cause is the
// error of the library.
func (a *Attempt) Failure(ctx context.Context, service string, cause error) *Error {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.err
	if err == nil && a.status != 0 { // the whole response was read
		return &Error{Kind: Protocol, Status: a.status, Text: service + " sent an invalid response (status " + strconv.Itoa(a.status) + ").",
			Fix: protocolFix, Cause: "Invalid response"}
	}
	if err == nil {
		err = cause
	}
	why := outbound.ServiceError(err)
	e := &Error{Status: a.status, err: contextError(ctx, err)}
	switch {
	case !a.sent && errors.Is(e.err, context.Canceled):
		e.Kind, e.Text, e.Cause = Canceled, "The request was canceled before it was sent.", "Canceled"
	case !a.sent:
		e.Kind, e.Text, e.Fix, e.Cause = Unavailable, service+" could not be reached: "+why.Error()+".", networkFix, "Unreachable"
	case why.Kind == outbound.KindProtocol:
		e.Kind, e.Text, e.Fix, e.Cause = Protocol, service+" sent an invalid response: "+why.Error()+".", protocolFix, "Invalid response"
	default:
		e.Kind, e.Fix, e.Cause = NoAnswer, networkFix, "No response"
		e.Text = "The response of " + service + " was lost: " + why.Error() + ". The request may have been processed."
	}
	return e
}

// contextError returns the context error if the context or SendBefore ended the request, else nil.
func contextError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return context.DeadlineExceeded
	}
	return nil
}

// StatusError returns the error of a response if its status is enough to tell, else nil. said is the message of the service.
func (a *Attempt) StatusError(service string, status int, said string) *Error {
	retry := a.RetryAfter()
	switch {
	case status == http.StatusTooManyRequests:
		return &Error{Kind: RateLimited, Status: status, RetryAfter: retry, Cause: "Rate limited",
			Text: WithMessage(service+" received too many requests.", said), Fix: "Linkwatch retries later."}
	case status >= 500 || status == http.StatusRequestTimeout:
		return &Error{Kind: Unavailable, Status: status, RetryAfter: retry, Cause: "Service unavailable",
			Text: WithMessage(service+" is unavailable (status "+strconv.Itoa(status)+").", said), Fix: "Linkwatch retries later."}
	}
	return nil
}

const maxRetryAfter = 24 * time.Hour

// parseRetryAfter parses a Retry-After header: seconds or a date. Invalid values are 0.
func parseRetryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		return ClampRetryAfter(time.Duration(min(max(n, 0), int64(maxRetryAfter/time.Second))) * time.Second)
	}
	if at, err := http.ParseTime(value); err == nil {
		return ClampRetryAfter(at.Sub(now))
	}
	return 0
}

// ClampRetryAfter limits a requested delay to between 0 and 24 hours.
func ClampRetryAfter(d time.Duration) time.Duration { return min(max(d, 0), maxRetryAfter) }
