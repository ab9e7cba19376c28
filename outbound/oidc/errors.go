package oidc

import (
	"context"
	"log/slog"
	"net/url"
	"strings"
	"unicode/utf8"

	"linkwatch/outbound"
)

// Kind says what sort of failure an Error is.
type Kind string

// The kinds of failure.
const (
	KindUnavailable Kind = "unavailable" // the provider, or a part of it, gave no useful answer in time
	KindSettings    Kind = "settings"    // the provider and our settings do not fit
	KindDenied      Kind = "denied"      // the provider did not sign the user in, or the user did not want it
	KindExpired     Kind = "expired"     // the sign-in was not begun in this browser, took too long, or was finished before
	KindRejected    Kind = "rejected"    // what the provider sent is not valid
)

var texts = map[Kind]string{
	KindUnavailable: "The identity provider is not available. Try again in a minute.",
	KindSettings:    "Single sign-on is not set up correctly. Ask an administrator: the log of the server has the reason.",
	KindDenied:      "The identity provider did not sign you in.",
	KindExpired:     "This sign-in has expired, or was begun in another browser. Sign in again.",
	KindRejected:    "The response of the identity provider is not valid. Sign in again.",
}

// Error is the error of a failed sign-in. Its text is a sentence for the user, fixed for each Kind, without anything that the
// provider or a visitor sent. It unwraps to the cause, which is already logged and must not be shown.
type Error struct {
	Kind Kind
	err  error
}

// Error returns the sentence.
func (e *Error) Error() string { return texts[e.Kind] }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.err }

// requestKind says what a request that got no answer is about.
func requestKind(err error) Kind {
	if outbound.ServiceError(err).Kind == outbound.KindBlocked {
		return KindSettings // OUTBOUND_ALLOW_CIDRS
	}
	return KindUnavailable
}

// statusError is a status line that was not expected.
type statusError string

func (e statusError) Error() string { return "unexpected status " + brief(string(e)) }

const maxLogged = 300 // bytes of a cause

// fail logs why a step failed, and makes the error of it.
func (p *Provider) fail(ctx context.Context, kind Kind, step string, err error, secrets ...string) error {
	level := slog.LevelWarn
	if kind == KindDenied || kind == KindExpired {
		level = slog.LevelInfo
	}
	text := err.Error()
	if outbound.ServiceError(err).Kind == outbound.KindBlocked {
		text = "the address is not allowed by OUTBOUND_ALLOW_CIDRS: " + text
	}
	for _, secret := range append(secrets, p.o.ClientSecret) {
		if secret != "" {
			text = strings.NewReplacer(secret, "***", url.QueryEscape(secret), "***").Replace(text)
		}
	}
	p.o.Log.Log(ctx, level, "single sign-on failed", "step", step, "kind", string(kind), "error", brief(text))
	return &Error{Kind: kind, err: err}
}

// brief cuts a text for the log, since the provider or a visitor may have written it.
func brief(s string) string {
	if len(s) > maxLogged {
		s = s[:maxLogged] + "…"
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "?")
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}
