// Package engine sends requests to search engines. It sends each request once, knows whether it may have arrived, and defines
// the errors of all search engines.
package engine

import (
	"strings"
	"time"

	"linkwatch/models"
)

// Kind is a kind of failure.
type Kind string

// The kinds of failures.
const (
	NotOwner    Kind = "not_owner"    // the account has no access to the property
	APIDisabled Kind = "api_disabled" // the API is not enabled in the Google project
	RateLimited Kind = "rate_limited" // a quota is used up; see Error.Daily and Error.RetryAfter
	Unavailable Kind = "unavailable"  // 5xx, or the service could not be reached
	NoAnswer    Kind = "no_answer"    // the request may have arrived, but the response was lost
	Refused     Kind = "refused"      // the page or batch is not accepted
	Credentials Kind = "credentials"  // the service account or key is refused
	NotFound    Kind = "not_found"    // unknown resource or endpoint
	Protocol    Kind = "protocol"     // invalid response
	Canceled    Kind = "canceled"     // the context ended before the request was sent
)

// Error is the error of a request to a search engine. Its texts have no tokens, private keys or raw responses, so they may be
// stored and shown.
type Error struct {
	Kind       Kind
	Status     int           // 0 = no response
	RetryAfter time.Duration // requested by the service, at most 24 h; 0 = none
	Daily      bool          // for RateLimited: the daily quota is used up
	Text       string        // what happened
	Fix        string        // what to do; "" = nothing, Linkwatch retries
	Cause      string        // short label that groups failures
	err        error         // context.Canceled or context.DeadlineExceeded; nil = neither
}

// Error implements error.
func (e *Error) Error() string { return e.Text }

// Advice returns what happened and what to do.
func (e *Error) Advice() string {
	if e.Fix == "" {
		return e.Text
	}
	if strings.HasSuffix(e.Text, ".") || strings.HasSuffix(e.Text, "!") || strings.HasSuffix(e.Text, "?") {
		return e.Text + " " + e.Fix
	}
	return e.Text + ". " + e.Fix
}

// Unwrap returns context.Canceled or context.DeadlineExceeded if that ended the request.
func (e *Error) Unwrap() error { return e.err }

// Lost reports whether the response was lost, so that the request may have been processed.
func (e *Error) Lost() bool { return e.Kind == NoAnswer }

// Sent reports whether the request may have arrived, so that it counts against quotas.
func (e *Error) Sent() bool { return e.Kind != Canceled && (e.Kind != Unavailable || e.Status != 0) }

// Sitewide reports whether the failure concerns the whole website, so that requests for other pages would fail too.
func (e *Error) Sitewide() bool { return e.Kind != Refused && e.Kind != Canceled }

const maxMessage = 300 // runes of a service's message

// SafeMessage returns the message of a service as one line of at most 300 runes. It is "" if the message contains one of the
// secrets or what looks like a token or key.
func SafeMessage(message string, secrets ...string) string {
	for _, secret := range append([]string{"PRIVATE KEY", "Bearer ", "ya29.", "eyJ"}, secrets...) {
		if secret != "" && strings.Contains(message, secret) {
			return ""
		}
	}
	return models.Truncate(models.CleanLine(message), maxMessage)
}

// WithMessage appends the message of a service to a sentence; said "" = none.
func WithMessage(sentence, said string) string {
	if said == "" {
		return sentence
	}
	return strings.TrimSuffix(sentence, ".") + ": " + said
}
