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
	networkFix  = "Check that this server can reach it. Linkwatch tries again later."
	protocolFix = "Check the endpoint in the settings, and that no proxy answers in its place."
)

// Failure is the error of a request that gave no answer that can be read. service
// begins a sentence, such as "Google"; cause is the error of the library.
func (a *Attempt) Failure(ctx context.Context, service string, cause error) *Error {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.err
	if err == nil && a.status != 0 { // all of it was read
		return &Error{Kind: Protocol, Status: a.status, Text: service + " gave an answer that Linkwatch cannot read (status " + strconv.Itoa(a.status) + ").",
			Fix: protocolFix, Cause: "Unreadable answer"}
	}
	if err == nil {
		err = cause
	}
	why := outbound.ServiceError(err)
	e := &Error{Status: a.status, err: ended(ctx, err)}
	switch {
	case !a.sent && errors.Is(e.err, context.Canceled):
		e.Kind, e.Text, e.Cause = Canceled, "Linkwatch stopped before it sent the request.", "Canceled"
	case !a.sent:
		e.Kind, e.Text, e.Fix, e.Cause = Unavailable, service+" cannot be reached: "+why.Error()+".", networkFix, "Not reachable"
	case why.Kind == outbound.KindProtocol:
		e.Kind, e.Text, e.Fix, e.Cause = Protocol, service+" gave an answer that Linkwatch cannot read: "+why.Error()+".", protocolFix, "Unreadable answer"
	default:
		e.Kind, e.Fix, e.Cause = NoAnswer, networkFix, "No answer"
		e.Text = "The answer of " + service + " was lost: " + why.Error() + ". The request may have arrived."
	}
	return e
}

// ended is the context's error if that, or SendBefore, is what ended the request.
func ended(ctx context.Context, err error) error {
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

// Status is the error of a response that says no more than its status, and nil if the
// status alone does not tell enough.
func (a *Attempt) Status(service string, status int, said string) *Error {
	retry := a.RetryAfter()
	switch {
	case status == http.StatusTooManyRequests:
		return &Error{Kind: RateLimited, Status: status, RetryAfter: retry, Cause: "Rate limited",
			Text: With(service+" allows no more requests for now.", said), Fix: "Linkwatch tries again later."}
	case status >= 500 || status == http.StatusRequestTimeout:
		return &Error{Kind: Unavailable, Status: status, RetryAfter: retry, Cause: "Service unavailable",
			Text: With(service+" is unavailable (status "+strconv.Itoa(status)+").", said), Fix: "Linkwatch tries again later."}
	}
	return nil
}

const maxRetryAfter = 24 * time.Hour

// parseRetryAfter reads a Retry-After header: seconds, or a date.
func parseRetryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		return Pause(time.Duration(min(max(n, 0), int64(maxRetryAfter/time.Second))) * time.Second)
	}
	if at, err := http.ParseTime(value); err == nil {
		return Pause(at.Sub(now))
	}
	return 0
}

// Pause is a pause that a service asks for, within 0 and a day.
func Pause(d time.Duration) time.Duration { return min(max(d, 0), maxRetryAfter) }
