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

// Finish implements accounthandlers.SSO.
func (s *sso) Finish(ctx context.Context, l accounthandlers.SSOLogin, query url.Values, redirectURL string) (accounthandlers.Identity, error) {
	code, err := s.provider.Callback(ctx, oidc.Login(l), query)
	if err != nil {
		return accounthandlers.Identity{}, userError(err)
	}
	id, err := s.provider.Finish(ctx, oidc.Login(l), code, redirectURL)
	if err != nil {
		return accounthandlers.Identity{}, userError(err)
	}
	role, ok := oidc.Role(id.RoleValues, s.cfg.OIDCRoleMap(), s.cfg.OIDCDefaultRole)
	switch {
	case !oidc.AllowedDomain(id.Email, id.EmailVerified, s.cfg.OIDCAllowedDomains):
		return accounthandlers.Identity{}, forbidden("Your email address is not allowed to sign in. Ask an admin.")
	case !ok:
		return accounthandlers.Identity{}, forbidden("You have no role in Linkwatch. Ask an admin.")
	}
	return accounthandlers.Identity{
		Issuer: id.Issuer, Subject: id.Subject, Username: oidc.Username(id), Role: accounts.Role(role), Mapped: s.cfg.OIDCRoleClaim != "",
	}, nil
}

func forbidden(detail string) error { return &models.Error{Code: models.CodeForbidden, Detail: detail} }

// userError converts an error of the provider to one for the user. The provider has already logged the cause.
func userError(err error) error {
	e, ok := errors.AsType[*oidc.Error](err)
	switch {
	case !ok:
		return err
	case e.Kind == oidc.KindUnavailable:
		return &models.Error{Code: models.CodeUnavailable, Detail: e.Error()}
	}
	return forbidden(e.Error())
}
