package app

import (
	"context"
	"errors"
	"net/url"
	"slices"

	"linkwatch/config"
	accounthandlers "linkwatch/handlers/accounts"
	"linkwatch/models/accounts"
	"linkwatch/outbound/oidc"
)

// sso implements accounthandlers.SSO with the configured identity provider.
type sso struct {
	provider *oidc.Provider
	cfg      config.Config
}

// newSSO returns the identity provider; nil = not configured.
func newSSO(c *core) *sso {
	cfg := c.Config
	if cfg.OIDCIssuer == "" {
		return nil
	}
	return &sso{cfg: cfg, provider: oidc.New(oidc.Options{
		Issuer: cfg.OIDCIssuer, ClientID: cfg.OIDCClientID, ClientSecret: string(cfg.OIDCClientSecret), Scopes: cfg.OIDCScopes, RoleClaim: cfg.OIDCRoleClaim,
		AllowCIDRs: cfg.OutboundAllowCIDRs, UserAgent: cfg.UserAgent(c.Version), Log: c.Log, Clock: c.Clock,
	})}
}

func (s *sso) close() {
	if s != nil {
		s.provider.Close()
	}
}

// Begin implements accounthandlers.SSO.
func (s *sso) Begin(ctx context.Context, redirectURL string) (accounthandlers.SSOLogin, error) {
	l, err := s.provider.Begin(ctx, redirectURL)
	return accounthandlers.SSOLogin(l), userError(err)
}

// BeginSilent implements accounthandlers.SSO.
func (s *sso) BeginSilent(ctx context.Context, redirectURL, idToken string) (accounthandlers.SSOLogin, error) {
	l, err := s.provider.BeginSilent(ctx, redirectURL, idToken)
	return accounthandlers.SSOLogin(l), userError(err)
}

// Finish implements accounthandlers.SSO.
func (s *sso) Finish(
	ctx context.Context, l accounthandlers.SSOLogin, query url.Values, redirectURL string,
) (accounthandlers.Identity, accounts.Grant, error) {
	code, err := s.provider.Callback(ctx, oidc.Login(l), query)
	if err != nil {
		refusal := userError(err)
		if r, ok := errors.AsType[*accounthandlers.Refusal](refusal); ok {
			r.ByBrowser = true
		}
		return accounthandlers.Identity{}, accounts.Grant{}, refusal
	}
	return s.judge(s.provider.Finish(ctx, oidc.Login(l), code, redirectURL))
}

// Refresh implements accounthandlers.SSO.
func (s *sso) Refresh(ctx context.Context, refreshToken string) (accounthandlers.Identity, accounts.Grant, error) {
	id, tokens, err := s.provider.Refresh(ctx, refreshToken)
	if err == nil && id.Subject == "" {
		return accounthandlers.Identity{}, accounts.Grant(tokens), nil
	}
	return s.judge(id, tokens, err)
}

// EndSession implements accounthandlers.SSO.
func (s *sso) EndSession(ctx context.Context, idToken, returnURL string) (string, error) {
	return s.provider.EndSession(ctx, idToken, returnURL)
}

// judge returns the user with a role, or an error if the user has no access.
func (s *sso) judge(id oidc.Identity, tokens oidc.Tokens, err error) (accounthandlers.Identity, accounts.Grant, error) {
	if err != nil {
		return accounthandlers.Identity{}, accounts.Grant(tokens), userError(err)
	}
	role, ok := oidc.Role(id.RoleValues, s.cfg.OIDCRoleMap(), s.cfg.OIDCDefaultRole)
	user := accounthandlers.Identity{
		Issuer: id.Issuer, Subject: id.Subject, Username: oidc.Username(id),
		Role: accounts.Role(role), Mapped: providerRoles(s.cfg),
		Name: id.Username, Email: id.Email, RoleClaim: s.cfg.OIDCRoleClaim, RoleValues: id.RoleValues,
	}
	refuse := func(reason accounthandlers.Reason, detail string) error {
		return &accounthandlers.Refusal{Reason: reason, Detail: detail, Identity: user}
	}
	switch {
	case !oidc.AllowedDomain(id.Email, id.EmailVerified, s.cfg.OIDCAllowedDomains):
		err = refuse(accounthandlers.Domain, "Your email address is not allowed to sign in. Ask an admin.")
	case !ok:
		err = refuse(accounthandlers.NoRole, "You have no role in Linkwatch. Ask an admin.")
	}
	return user, accounts.Grant(tokens), err
}

// providerRoles reports whether the identity provider decides the roles of its users.
func providerRoles(cfg config.Config) bool {
	return cfg.OIDCRoleClaim != "" && cfg.OIDCRoleSync == config.SyncAlways
}

// undecided are the kinds of errors that say nothing about the user.
var undecided = []oidc.Kind{oidc.KindUnavailable, oidc.KindSettings, oidc.KindClock, oidc.KindRejected}

// userError converts an error of the provider to one for the user. The provider has already logged the cause.
func userError(err error) error {
	kind := oidc.KindOf(err)
	if kind == "" {
		return err
	}
	return &accounthandlers.Refusal{
		Reason: accounthandlers.Reason(kind), Detail: err.Error(), Undecided: slices.Contains(undecided, kind),
	}
}
