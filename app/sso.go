package app

import (
	"context"
	"errors"
	"net/url"

	"linkwatch/config"
	accounthandlers "linkwatch/handlers/accounts"
	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/outbound/oidc"
)

// sso is the identity provider of the settings, as the login page asks it.
type sso struct {
	provider *oidc.Provider
	cfg      config.Config
}

// newSSO makes the identity provider; nil = the settings name none.
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
	return accounthandlers.SSOLogin(l), forUser(err)
}

// Finish implements accounthandlers.SSO.
func (s *sso) Finish(ctx context.Context, l accounthandlers.SSOLogin, query url.Values, redirectURL string) (accounthandlers.Identity, error) {
	code, err := s.provider.Callback(ctx, oidc.Login(l), query)
	if err != nil {
		return accounthandlers.Identity{}, forUser(err)
	}
	id, err := s.provider.Finish(ctx, oidc.Login(l), code, redirectURL)
	if err != nil {
		return accounthandlers.Identity{}, forUser(err)
	}
	role, ok := oidc.Role(id.Claims, s.cfg.OIDCRoleMap(), s.cfg.OIDCDefaultRole)
	switch {
	case !oidc.AllowedDomain(id.Email, id.EmailVerified, s.cfg.OIDCAllowedDomains):
		return accounthandlers.Identity{}, refused("Your e-mail address may not sign in here. Ask an admin.")
	case !ok:
		return accounthandlers.Identity{}, refused("You have no role here. Ask an admin.")
	}
	return accounthandlers.Identity{
		Issuer: id.Issuer, Subject: id.Subject, Username: oidc.Username(id), Role: accounts.Role(role), Mapped: s.cfg.OIDCRoleClaim != "",
	}, nil
}

func refused(detail string) error { return &models.Error{Code: models.CodeForbidden, Detail: detail} }

// forUser turns an error of the provider into one for the user. The provider has logged its cause.
func forUser(err error) error {
	e, ok := errors.AsType[*oidc.Error](err)
	switch {
	case !ok:
		return err
	case e.Kind == oidc.KindUnavailable:
		return &models.Error{Code: models.CodeUnavailable, Detail: e.Error()}
	}
	return refused(e.Error())
}
