package oidc

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"maps"
	"net/url"
	"strings"
	"unicode/utf8"

	"linkwatch/outbound"
)

// Kind is the kind of an Error.
type Kind string

// The kinds of errors.
const (
	KindUnavailable Kind = "unavailable" // no valid response from the provider in time
	KindSettings    Kind = "settings"    // the settings do not match the provider
	KindClock       Kind = "clock"       // the clocks of this server and of the provider differ
	KindDenied      Kind = "denied"      // the provider or the user refused the sign-in
	KindExpired     Kind = "expired"     // started in another browser or already used, or no longer valid
	KindSignedOut   Kind = "signed_out"  // the user has no session at the provider, which BeginSilent needs
	KindRejected    Kind = "rejected"    // the response of the provider is invalid
)

var texts = map[Kind]string{
	KindUnavailable: "The identity provider is unavailable. Try again in a minute.",
	KindSettings: "Single sign-on is not configured correctly. Signing in again does not help. " +
		"Ask an admin to check the server log.",
	KindClock: "The clocks of this server and of the identity provider differ. Signing in again does not help. " +
		"Ask an admin to correct them.",
	KindDenied:    "The identity provider did not sign you in. If you did not cancel, ask the admin of the provider for access.",
	KindExpired:   "This login has expired, or was started in another browser. Sign in again.",
	KindSignedOut: "Your session at the identity provider has ended. Sign in again.",
	KindRejected:  "The identity provider sent an invalid response. Ask an admin to check the server log.",
}

// Texts returns the messages for the user, by Kind.
func Texts() map[Kind]string { return maps.Clone(texts) }

// Error is the error of a failed sign-in. Its message is a fixed sentence for the user, one per Kind, without text from the
// provider or the client. It unwraps to the cause, which is already logged and must not be shown.
type Error struct {
	Kind Kind
	err  error
}

// Error returns the message for the user.
func (e *Error) Error() string { return texts[e.Kind] }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.err }

// KindOf returns the kind of an *Error; "" = another error.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}

func requestKind(err error) Kind {
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	if untrusted || outbound.ServiceError(err).Kind == outbound.KindBlocked {
		return KindSettings // SSL_CERT_FILE or OUTBOUND_ALLOW_CIDRS
	}
	return KindUnavailable
}

// statusError is an unexpected status line.
type statusError string

func (e statusError) Error() string { return "unexpected status " + brief(string(e)) }

const maxLogged = 300 // bytes of a logged text

// fail logs the cause of a failed step, without secrets, and returns an *Error.
func (p *Provider) fail(ctx context.Context, kind Kind, step string, err error, secrets ...string) error {
	level := slog.LevelWarn
	if kind == KindDenied || kind == KindExpired || kind == KindSignedOut {
		level = slog.LevelInfo
	}
	text := err.Error()
	if outbound.ServiceError(err).Kind == outbound.KindBlocked {
		text = "address is not allowed by OUTBOUND_ALLOW_CIDRS: " + text
	}
	for _, secret := range append(secrets, p.opts.ClientSecret) {
		if secret != "" {
			text = strings.NewReplacer(secret, "***", url.QueryEscape(secret), "***").Replace(text)
		}
	}
	p.opts.Log.Log(ctx, level, "single sign-on failed", "step", step, "kind", string(kind), "error", brief(text))
	return &Error{Kind: kind, err: err}
}

// brief truncates a text from outside for the log, and replaces control characters and invalid UTF-8.
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
