package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
)

const (
	maxToken    = 64 << 10        // bytes of an ID token
	maxSubject  = 255             // bytes, as OpenID Connect Core, 2, requires
	skew        = 2 * time.Minute // how far the clock of the provider may be ahead
	maxTokenAge = time.Hour       // of an ID token
)

// verify returns the claims of an ID token that the provider issued for this client and sign-in. accept checks its
// nonce. The error is an *Error.
func (p *Provider) verify(
	ctx context.Context, raw, accessToken string, accept func(nonce string) bool,
) (claims, error) {
	reject := func(err error) (claims, error) {
		return nil, p.fail(ctx, tokenKind(err), "token", err, raw, accessToken)
	}
	if raw == "" || len(raw) > maxToken || strings.Count(raw, ".") != 2 {
		return reject(errors.New("ID token is missing, too long or not signed"))
	}
	set := &keySet{p: p}
	var accepted []string
	for _, a := range algorithms {
		accepted = append(accepted, string(a))
	}
	token, err := gooidc.NewVerifier(p.opts.Issuer, set, &gooidc.Config{ClientID: p.opts.ClientID, SupportedSigningAlgs: accepted, Now: p.opts.Clock}).Verify(ctx, raw)
	if set.err != nil {
		return nil, asError(set.err)
	}
	if err != nil {
		return reject(err)
	}
	if !exactMembers(raw) {
		return reject(errors.New("ID token has a member twice or in the wrong case"))
	}
	var c claims
	if err := token.Claims(&c); err != nil {
		return reject(err)
	}
	if err := p.check(token, c, accessToken, accept); err != nil {
		return reject(err)
	}
	return c, nil
}

// check makes the checks of OpenID Connect Core, 3.1.3.7, that the library leaves to its callers.
func (p *Provider) check(t *gooidc.IDToken, c claims, accessToken string, accept func(nonce string) bool) error {
	if !accept(t.Nonce) {
		return errors.New("nonce does not match")
	}
	if !validSubject(t.Subject) {
		return errors.New("subject is missing or invalid")
	}
	_, azp := c["azp"]
	if azp && c.text("azp") != p.opts.ClientID || !azp && len(t.Audience) > 1 {
		return errors.New("token was issued for another client")
	}
	if _, ok := c["iat"]; !ok {
		return errors.New("time of issue is missing")
	}
	now := p.opts.Clock()
	if t.IssuedAt.After(now.Add(skew)) || t.IssuedAt.Before(now.Add(-maxTokenAge)) {
		return errNotRecent
	}
	if _, ok := c["at_hash"]; ok {
		return t.VerifyAccessToken(accessToken)
	}
	return nil
}

// errNotRecent is the error of a token that was issued in the future or long ago.
var errNotRecent = errors.New("token was not issued recently")

// tokenKind returns the kind of an error of an ID token, which has just been issued. The library has no types for the
// last three errors.
func tokenKind(err error) Kind {
	expired, ok := errors.AsType[*gooidc.TokenExpiredError](err)
	text := err.Error()
	switch {
	case ok && expired.Expiry.Unix() > 0, errors.Is(err, errNotRecent), strings.Contains(text, "before the nbf"):
		return KindClock
	case strings.Contains(text, "expected audience"), strings.Contains(text, "issued by a different provider"):
		return KindSettings
	}
	return KindRejected
}

func validSubject(s string) bool {
	return s != "" && len(s) <= maxSubject && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// addUserInfo adds claims from the userinfo endpoint that the ID token lacks. Some providers send the email address and the
// roles only there. Claims of the ID token take precedence. The error is an *Error.
func (p *Provider) addUserInfo(ctx context.Context, m metadata, c claims, accessToken string) error {
	_, hasEmail := c["email"]
	_, hasRoles := c[p.opts.RoleClaim]
	if m.UserInfo == "" || hasEmail && (hasRoles || p.opts.RoleClaim == "") {
		return nil
	}
	body, err := p.get(ctx, m.UserInfo, accessToken)
	if err != nil {
		return p.fail(ctx, requestKind(err), "userinfo", err, accessToken)
	}
	var info claims
	if err := json.Unmarshal(body, &info); err != nil {
		return p.fail(ctx, KindRejected, "userinfo", errors.New("response is not a JSON object"))
	}
	if info.text("sub") != c.text("sub") {
		return p.fail(ctx, KindRejected, "userinfo", errors.New("response is for another subject"))
	}
	if !hasEmail {
		delete(c, "email_verified") // applies to no address
		c.addMissing(info, "email")
		c.addMissing(info, "email_verified")
	}
	c.addMissing(info, "preferred_username")
	if p.opts.RoleClaim != "" {
		c.addMissing(info, p.opts.RoleClaim)
	}
	return nil
}
