package oidc

import (
	"context"
	"net/url"

	"golang.org/x/oauth2"
)

// maxHint is the maximum length in bytes of an ID token in a URL. Servers accept at least 8,000 bytes.
const maxHint = 6000

// Tokens are what a session at the provider needs later. They are secrets.
type Tokens struct {
	IDToken      string
	RefreshToken string // "" = the provider gave none
}

// Refresh asks the provider for the user of a refresh token and returns the new tokens. Without an ID token in the
// response, which is optional, the Identity is empty. If the token is no longer valid, the error has KindExpired: the
// user was removed, has signed out, or the token has expired. With another error after the provider has replaced the
// token, the Tokens have the next one. The error is an *Error.
func (p *Provider) Refresh(ctx context.Context, refreshToken string) (Identity, Tokens, error) {
	m, err := p.metadata(ctx)
	if err != nil {
		return Identity{}, Tokens{}, err
	}
	token, err := p.config(m, "").TokenSource(p.clientContext(ctx), &oauth2.Token{RefreshToken: refreshToken}).Token()
	if err != nil {
		return Identity{}, Tokens{}, p.fail(ctx, exchangeKind(err), "refresh", err, refreshToken)
	}
	if token.Extra("id_token") == nil {
		return Identity{}, Tokens{RefreshToken: token.RefreshToken}, nil
	}
	// The token comes from the provider itself, so it needs no nonce (OpenID Connect Core, 12.2).
	id, tokens, err := p.identify(ctx, m, token, func(string) bool { return true })
	if err != nil {
		tokens.RefreshToken = token.RefreshToken
	}
	return id, tokens, err
}

// EndSession returns the page of the provider that ends the session of the user there, and then redirects to
// returnTo, which must be registered. The result is "" if the provider has no such page.
func (p *Provider) EndSession(ctx context.Context, idToken, returnTo string) (string, error) {
	m, err := p.metadata(ctx)
	if err != nil || m.EndSession == "" {
		return "", err
	}
	u, err := url.Parse(m.EndSession)
	if err != nil {
		return "", err
	}
	q := u.Query()
	q.Set("client_id", p.opts.ClientID)
	q.Set("post_logout_redirect_uri", returnTo)
	if len(idToken) <= maxHint && idToken != "" {
		q.Set("id_token_hint", idToken)
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}
