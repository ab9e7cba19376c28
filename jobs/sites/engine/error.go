// Package engine sends requests to search engines. It makes sure that one call is one
// request, knows whether a request may have arrived, and has the error of all of them.
package engine

import (
	"strings"
	"time"

	"linkwatch/models"
)

// Kind says what sort of failure an Error is, for deciding what to do about it.
type Kind string

// The kinds of failure.
const (
	NotOwner    Kind = "not_owner"    // the account has no rights to the property
	APIDisabled Kind = "api_disabled" // the API is not enabled in the Google project
	RateLimited Kind = "rate_limited" // a quota is used up, see Error.Daily and Error.RetryAfter
	Unavailable Kind = "unavailable"  // 5xx, or the service cannot be reached and nothing was sent
	NoAnswer    Kind = "no_answer"    // the request may have arrived, but its answer was lost
	Refused     Kind = "refused"      // the page or the batch is not accepted as it is
	Credentials Kind = "credentials"  // the service account or the key is refused
	NotFound    Kind = "not_found"    // the service does not know what was asked for
	Protocol    Kind = "protocol"     // the answer cannot be read
	Canceled    Kind = "canceled"     // the caller's context ended before anything was sent
)

// Error is why a request to a search engine failed. Its texts hold no token, no private
// key and no raw response: they may be stored and shown.
type Error struct {
	Kind       Kind
	Status     int           // of the response; 0 = there was none
	RetryAfter time.Duration // the pause that the service asks for, at most a day; 0 = it does not say
	Daily      bool          // with RateLimited: the quota of the day is used up
	Text       string        // what happened
	Fix        string        // what to do; "" = wait, Linkwatch tries again
	Cause      string        // a short label by which failures are grouped, the same for all pages and websites
	err        error         // context.Canceled or context.DeadlineExceeded; nil = neither
}

// Error implements error.
func (e *Error) Error() string { return e.Text }

// Advice is what happened and what to do about it, as sentences.
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

// Lost reports whether the request may have arrived although there was no answer.
func (e *Error) Lost() bool { return e.Kind == NoAnswer }

// Sent reports whether the request may have arrived, so that it counts as spent.
func (e *Error) Sent() bool { return e.Kind != Canceled && (e.Kind != Unavailable || e.Status != 0) }

// Sitewide reports whether the failure concerns the whole website, so that its other
// pages would fail as well.
func (e *Error) Sitewide() bool { return e.Kind != Refused && e.Kind != Canceled }

const maxSaid = 300 // runes of a service's own message

// Said is the message of a service, fit for a text: one line, at most 300 characters.
// It is "" if the message holds one of the secrets or what looks like a token or a key.
func Said(message string, secrets ...string) string {
	for _, secret := range append([]string{"PRIVATE KEY", "Bearer ", "ya29.", "eyJ"}, secrets...) {
		if secret != "" && strings.Contains(message, secret) {
			return ""
		}
	}
	return models.Truncate(models.CleanLine(message), maxSaid)
}

// With is a sentence with what a service said of it, if it did.
func With(sentence, said string) string {
	if said == "" {
		return sentence
	}
	return strings.TrimSuffix(sentence, ".") + ": " + said
}
