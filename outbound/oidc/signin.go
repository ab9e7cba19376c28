package oidc

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const maxCode = 4096 // bytes of an authorization code

// Login is a sign-in in progress. URL is the page of the provider that the browser opens. The other values are secrets: they
// must return unchanged with the same browser, and only once. Anyone who knows them can finish the sign-in.
type Login struct {
	URL      string
	State    string
	Nonce    string
	Verifier string
}

// Begin starts a sign-in. The provider redirects the browser to redirectURL, which must be registered there. The error is
// an *Error.
func (p *Provider) Begin(ctx context.Context, redirectURL string) (Login, error) {
	return p.begin(ctx, redirectURL)
}

// BeginSilent is Begin for a user who is probably signed in at the provider. The provider shows no page. If it had
// to, the error of Callback has KindSignedOut. idToken is the last ID token of the user; "" = unknown.
func (p *Provider) BeginSilent(ctx context.Context, redirectURL, idToken string) (Login, error) {
	options := []oauth2.AuthCodeOption{oauth2.SetAuthURLParam("prompt", "none")}
	if len(idToken) <= maxHint && idToken != "" {
		options = append(options, oauth2.SetAuthURLParam("id_token_hint", idToken))
	}
	return p.begin(ctx, redirectURL, options...)
}

func (p *Provider) begin(ctx context.Context, redirectURL string, options ...oauth2.AuthCodeOption) (Login, error) {
	m, err := p.metadata(ctx)
	if err != nil {
		return Login{}, err
	}
	l := Login{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier()}
	options = append(options, gooidc.Nonce(l.Nonce), oauth2.S256ChallengeOption(l.Verifier))
	l.URL = p.config(m, redirectURL).AuthCodeURL(l.State, options...)
	return l, nil
}

// metadata returns the discovery document, or an *Error.
func (p *Provider) metadata(ctx context.Context) (metadata, error) {
	m, err := p.discovery.get(ctx, nil)
	return m, asError(err)
}

// asError returns an *Error unchanged. Other errors come from a context that ended while waiting.
func asError(err error) error {
	if _, ok := errors.AsType[*Error](err); ok || err == nil {
		return err
	}
	return &Error{Kind: KindUnavailable, err: err}
}

// Callback checks the query of a browser that returns from the provider, and returns the code. The error is an *Error.
func (p *Provider) Callback(ctx context.Context, l Login, q url.Values) (code string, err error) {
	for _, name := range []string{"state", "iss", "error", "code"} {
		if len(q[name]) > 1 {
			return "", p.fail(ctx, KindRejected, "callback", errors.New("a parameter is repeated"))
		}
	}
	if l.State == "" || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(l.State)) != 1 {
		return "", p.fail(ctx, KindExpired, "callback", errors.New("state does not match"))
	}
	if err := p.CheckIssuer(ctx, q.Get("iss")); err != nil {
		return "", err
	}
	if reason := q.Get("error"); reason != "" {
		return "", p.fail(ctx, cmp.Or(kindOfCode[reason], KindDenied), "callback", errors.New("provider returned "+brief(reason)+": "+brief(q.Get("error_description"))))
	}
	code = q.Get("code")
	if code == "" || len(code) > maxCode {
		return "", p.fail(ctx, KindRejected, "callback", errors.New("code is missing or too long"))
	}
	return code, nil
}

// kindOfCode has the kinds of the error codes of RFC 6749, 4.1.2.1 and 5.2, that the user has not caused, and of OpenID
// Connect Core, 3.1.2.6.
var kindOfCode = map[string]Kind{
	"invalid_request": KindSettings, "unauthorized_client": KindSettings, "unsupported_response_type": KindSettings, "invalid_scope": KindSettings,
	"invalid_client": KindSettings, "unsupported_grant_type": KindSettings,
	"server_error": KindUnavailable, "temporarily_unavailable": KindUnavailable,
	"invalid_grant":  KindExpired,
	"login_required": KindSignedOut, "interaction_required": KindSignedOut,
	"consent_required": KindSignedOut, "account_selection_required": KindSignedOut,
}

// CheckIssuer returns an error if the iss parameter of a callback (RFC 9207) is another issuer. This prevents another
// provider from injecting its code. An empty iss means that the parameter is missing. This is an error only if the
// discovery document says that the provider sends it. Callback calls CheckIssuer. The error is an *Error.
func (p *Provider) CheckIssuer(ctx context.Context, iss string) error {
	if iss == p.opts.Issuer {
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
	return p.fail(ctx, KindRejected, "callback", errors.New("iss parameter is missing or does not match"))
}

// Finish exchanges the code from Callback for the identity of the user. l and redirectURL must be those of Begin. A code can
// be used once. The error is an *Error.
func (p *Provider) Finish(ctx context.Context, l Login, code, redirectURL string) (Identity, Tokens, error) {
	if l.Nonce == "" || l.Verifier == "" || code == "" {
		return Identity{}, Tokens{}, p.fail(ctx, KindExpired, "code", errors.New("nonce, verifier or code is missing"))
	}
	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	defer cancel()
	m, err := p.metadata(ctx)
	if err != nil {
		return Identity{}, Tokens{}, err
	}
	token, err := p.config(m, redirectURL).Exchange(p.clientContext(ctx), code, oauth2.VerifierOption(l.Verifier))
	if err != nil {
		return Identity{}, Tokens{}, p.fail(ctx, exchangeKind(err), "code", err, code, l.Verifier)
	}
	return p.identify(ctx, m, token, func(nonce string) bool {
		return subtle.ConstantTimeCompare([]byte(nonce), []byte(l.Nonce)) == 1
	})
}

// identify returns the user of a response of the token endpoint. accept checks the nonce of the ID token.
func (p *Provider) identify(
	ctx context.Context, m metadata, token *oauth2.Token, accept func(nonce string) bool,
) (Identity, Tokens, error) {
	raw, _ := token.Extra("id_token").(string)
	c, err := p.verify(ctx, raw, token.AccessToken, accept)
	if err != nil {
		return Identity{}, Tokens{}, err
	}
	if err := p.addUserInfo(ctx, m, c, token.AccessToken); err != nil {
		return Identity{}, Tokens{}, err
	}
	return c.identity(p.opts.Issuer, p.opts.RoleClaim), Tokens{IDToken: raw, RefreshToken: token.RefreshToken}, nil
}

// exchangeKind returns the kind of an error of the token endpoint.
func exchangeKind(err error) Kind {
	if response, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		switch status := response.Response.StatusCode; {
		case kindOfCode[response.ErrorCode] != "":
			return kindOfCode[response.ErrorCode]
		case status == http.StatusUnauthorized || status == http.StatusForbidden:
			return KindSettings
		case status >= 500 || status == http.StatusTooManyRequests:
			return KindUnavailable
		}
		return KindRejected
	}
	return requestKind(err) // no valid response
}
