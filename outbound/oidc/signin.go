package oidc

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// maxCode is the longest code that is sent on, in bytes.
const maxCode = 4096

// Login is a sign-in that has begun. URL is where to send the browser. The other values must come back unchanged with this
// browser and no other, and only once: anyone who knows them can finish the sign-in as another user.
type Login struct {
	URL      string
	State    string
	Nonce    string
	Verifier string
}

// Begin starts a sign-in. redirectURL is where the provider sends the browser back to; it knows this URL. The error is an
// *Error.
func (p *Provider) Begin(ctx context.Context, redirectURL string) (Login, error) {
	m, err := p.metadata(ctx)
	if err != nil {
		return Login{}, err
	}
	l := Login{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier()}
	l.URL = p.config(m, redirectURL).AuthCodeURL(l.State, gooidc.Nonce(l.Nonce), oauth2.S256ChallengeOption(l.Verifier))
	return l, nil
}

// metadata returns the discovery document, or an *Error.
func (p *Provider) metadata(ctx context.Context) (metadata, error) {
	m, err := p.discovery.get(ctx, nil)
	return m, asError(err)
}

// asError keeps an *Error. Other errors come from a context that ended while its owner waited.
func asError(err error) error {
	if _, ok := errors.AsType[*Error](err); ok || err == nil {
		return err
	}
	return &Error{Kind: KindUnavailable, err: err}
}

// Callback returns the code of a query with which a browser comes back from the provider. The error is an *Error.
func (p *Provider) Callback(ctx context.Context, l Login, q url.Values) (code string, err error) {
	for _, name := range []string{"state", "iss", "error", "code"} {
		if len(q[name]) > 1 {
			return "", p.fail(ctx, KindRejected, "callback", errors.New("a parameter is there twice"))
		}
	}
	if l.State == "" || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(l.State)) != 1 {
		return "", p.fail(ctx, KindExpired, "callback", errors.New("the state is another one"))
	}
	if err := p.CheckIssuer(ctx, q.Get("iss")); err != nil {
		return "", err
	}
	if reason := q.Get("error"); reason != "" {
		return "", p.fail(ctx, refusals[reason].or(KindDenied), "callback", errors.New("the provider answered "+brief(reason)+": "+brief(q.Get("error_description"))))
	}
	code = q.Get("code")
	if code == "" || len(code) > maxCode {
		return "", p.fail(ctx, KindRejected, "callback", errors.New("the code is missing or too long"))
	}
	return code, nil
}

func (k Kind) or(other Kind) Kind {
	if k == "" {
		return other
	}
	return k
}

// refusals are the errors of RFC 6749, 4.1.2.1 and 5.2, that are not about the user.
var refusals = map[string]Kind{
	"invalid_request": KindSettings, "unauthorized_client": KindSettings, "unsupported_response_type": KindSettings, "invalid_scope": KindSettings,
	"invalid_client": KindSettings, "unsupported_grant_type": KindSettings,
	"server_error": KindUnavailable, "temporarily_unavailable": KindUnavailable,
	"invalid_grant": KindExpired,
}

// CheckIssuer refuses the iss parameter of a callback (RFC 9207) if it is another issuer, so that no other provider can make a
// browser bring its code to us. "" stands for none, which is refused if the provider says that it sends one. Callback
// calls it. The error is an *Error.
func (p *Provider) CheckIssuer(ctx context.Context, iss string) error {
	if iss == p.o.Issuer {
		return nil
	}
	if iss == "" {
		m, err := p.metadata(ctx)
		if err != nil {
			return err
		}
		if !m.SendsIssuer {
			return nil
		}
	}
	return p.fail(ctx, KindRejected, "callback", errors.New("the iss parameter is missing or another issuer"))
}

// Finish exchanges the code that Callback returned for who has signed in. login and redirectURL are those of Begin. A code can
// be used once. The error is an *Error.
func (p *Provider) Finish(ctx context.Context, l Login, code, redirectURL string) (Identity, error) {
	if l.Nonce == "" || l.Verifier == "" || code == "" {
		return Identity{}, p.fail(ctx, KindExpired, "code", errors.New("the nonce, the verifier or the code is missing"))
	}
	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	defer cancel()
	m, err := p.metadata(ctx)
	if err != nil {
		return Identity{}, err
	}
	token, err := p.config(m, redirectURL).Exchange(p.within(ctx), code, oauth2.VerifierOption(l.Verifier))
	if err != nil {
		return Identity{}, p.fail(ctx, exchangeKind(err), "code", err, code, l.Verifier)
	}
	raw, _ := token.Extra("id_token").(string)
	c, err := p.verify(ctx, raw, token.AccessToken, l.Nonce)
	if err != nil {
		return Identity{}, err
	}
	if err := p.complete(ctx, m, c, token.AccessToken); err != nil {
		return Identity{}, err
	}
	return c.identity(p.o.Issuer, p.o.RoleClaim), nil
}

// exchangeKind says what an error of the token endpoint is about.
func exchangeKind(err error) Kind {
	if answer, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		switch status := answer.Response.StatusCode; {
		case refusals[answer.ErrorCode] != "":
			return refusals[answer.ErrorCode]
		case status == http.StatusUnauthorized || status == http.StatusForbidden:
			return KindSettings
		case status >= 500 || status == http.StatusTooManyRequests:
			return KindUnavailable
		}
		return KindRejected
	}
	return requestKind(err) // no answer, or none that makes sense
}
