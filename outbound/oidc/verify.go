package oidc

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"strings"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
)

const (
	maxToken   = 64 << 10        // bytes of an ID token
	maxSubject = 255             // bytes: OpenID Connect Core, 2
	skew       = 2 * time.Minute // by which the clock of the provider may be ahead
	maxIssued  = time.Hour       // since an ID token was issued: it is made for the sign-in
)

// verify returns the claims of an ID token that the provider made for us and for this sign-in. The error is an *Error.
func (p *Provider) verify(ctx context.Context, raw, accessToken, nonce string) (claims, error) {
	reject := func(err error) (claims, error) { return nil, p.fail(ctx, KindRejected, "token", err, raw, accessToken) }
	if raw == "" || len(raw) > maxToken || strings.Count(raw, ".") != 2 {
		return reject(errors.New("the ID token is missing, too long or not a signed token"))
	}
	set := &keySet{p: p}
	var accepted []string
	for _, a := range algorithms {
		accepted = append(accepted, string(a))
	}
	token, err := gooidc.NewVerifier(p.o.Issuer, set, &gooidc.Config{ClientID: p.o.ClientID, SupportedSigningAlgs: accepted, Now: p.o.Clock}).Verify(ctx, raw)
	if set.err != nil {
		return nil, asError(set.err)
	}
	if err != nil {
		return reject(err)
	}
	var c claims
	if err := token.Claims(&c); err != nil {
		return reject(err)
	}
	if err := p.check(token, c, accessToken, nonce); err != nil {
		return reject(err)
	}
	return c, nil
}

// check is what the library leaves to its callers: OpenID Connect Core, 3.1.3.7.
func (p *Provider) check(t *gooidc.IDToken, c claims, accessToken, nonce string) error {
	if subtle.ConstantTimeCompare([]byte(t.Nonce), []byte(nonce)) != 1 {
		return errors.New("the nonce is another one")
	}
	if !validSubject(t.Subject) {
		return errors.New("the subject is missing or not valid")
	}
	_, azp := c["azp"]
	if azp && c.text("azp") != p.o.ClientID || !azp && len(t.Audience) > 1 {
		return errors.New("the token was made for another party")
	}
	now := p.o.Clock()
	if t.IssuedAt.After(now.Add(skew)) || t.IssuedAt.Before(now.Add(-maxIssued)) {
		return errors.New("the token was not issued just now")
	}
	if _, ok := c["at_hash"]; ok {
		return t.VerifyAccessToken(accessToken)
	}
	return nil
}

func validSubject(s string) bool {
	return s != "" && len(s) <= maxSubject && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// complete adds what the ID token lacks from the userinfo endpoint: a provider may put the address and the roles there only.
// The ID token wins. The error is an *Error.
func (p *Provider) complete(ctx context.Context, m metadata, c claims, accessToken string) error {
	_, hasEmail := c["email"]
	_, hasRoles := c[p.o.RoleClaim]
	if m.UserInfo == "" || hasEmail && (hasRoles || p.o.RoleClaim == "") {
		return nil
	}
	body, err := p.get(ctx, m.UserInfo, accessToken)
	if err != nil {
		return p.fail(ctx, requestKind(err), "userinfo", err, accessToken)
	}
	var info claims
	if err := json.Unmarshal(body, &info); err != nil {
		return p.fail(ctx, KindRejected, "userinfo", errors.New("the answer is not a JSON object"))
	}
	if info.text("sub") != c.text("sub") {
		return p.fail(ctx, KindRejected, "userinfo", errors.New("the answer is about another subject"))
	}
	if !hasEmail {
		delete(c, "email_verified") // of no address
		c.take(info, "email")
		c.take(info, "email_verified")
	}
	c.take(info, "preferred_username")
	if p.o.RoleClaim != "" {
		c.take(info, p.o.RoleClaim)
	}
	return nil
}
