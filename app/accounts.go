package app

import (
	"linkwatch/config"
	"linkwatch/handlers"
	accounthandlers "linkwatch/handlers/accounts"
	"linkwatch/handlers/middleware"
	"linkwatch/jobs"
	accountjobs "linkwatch/jobs/accounts"
	"linkwatch/models/accounts"
	"linkwatch/models/cleanup"
	"linkwatch/views/ui"
)

// Accounts is the system of accounts: login, sessions, tokens, roles and the audit log.
type Accounts struct {
	System
	Store  *accounts.Store
	Access middleware.AccessOptions // options of the access guard
}

func newAccounts(c *core) *Accounts {
	cfg := c.Config
	store := accounts.NewStore(c.DB, c.Clock, accountOptions(c.Options))
	guesses, cookies := middleware.NewGuesses(c.Log), middleware.NewCookies(cfg.PublicURL)
	required := cfg.OIDCIssuer != "" || cfg.AuthProxyHeader != ""
	deps := &accounthandlers.Deps{
		Frame: c.frame, Accounts: store, Guesses: guesses, Cookies: cookies,
		Open: cfg.AuthDisabled, Closed: required || cfg.AdminPassword != "", Name: cfg.OIDCName, MaxAge: cfg.SessionMaxAge, Seal: c.Secrets.Seal, Unseal: c.Secrets.Open,
	}
	provider := newSSO(c)
	if provider != nil { // a nil *sso in the interface would not be nil
		deps.SSO = provider
	}
	pages := accounthandlers.Pages{Deps: deps}
	return &Accounts{
		Store: store,
		Access: middleware.AccessOptions{
			Keep:     pages.KeepForm,
			Accounts: accounthandlers.Gate{Deps: deps, ProxyRole: roleOrNone(cfg.AuthProxyRole)},
			Guesses:  guesses, Cookies: cookies,
			Password: string(cfg.AdminPassword), JWTSecret: string(cfg.AuthJWTSecret), Disabled: cfg.AuthDisabled, Required: required,
			JWTRules:    middleware.JWTRules{Issuer: cfg.AuthJWTIssuer, Audience: cfg.AuthJWTAudience, MaxAge: cfg.AuthJWTMaxAge},
			ProxyHeader: cfg.AuthProxyHeader, ProxyFrom: cfg.AuthProxyFrom,
		},
		System: System{
			System: handlers.System{
				Nav: accounthandlers.Nav(), Flash: pages.Flashes(), Routes: pages.Routes(),
				Groups: accounthandlers.Groups(), Operations: accounthandlers.API{Deps: deps}.Register,
			},
			Close: provider.close,
			Last:  []jobs.Service{accountjobs.New(store, c.Log)},
			Deletes: []cleanup.Kind{
				{Kind: "sessions", Label: "Sessions", Description: "expired", Remove: store.ReapSessions},
				{Kind: "used_logins", Label: "Used logins", Description: "of single sign-on, expired more than an hour ago", Remove: store.ReapUsedLogins},
				{Kind: "tokens", Label: "API tokens", Description: "expired more than 30 days ago", Remove: store.ReapTokens},
				{Kind: "accounts", Label: "Account secrets", Description: "of accounts deleted more than a day ago", Remove: store.ReapUsers},
				{Kind: "audit_entries", Label: "Audit entries", Description: "older than " + ui.WholeUnits(cfg.AuditRetention), Remove: store.ReapAudit},
			},
		},
	}
}

// accountOptions returns the options of the account store, for the server and the commands.
func accountOptions(o Options) accounts.Options {
	cfg := o.Config
	opts := accounts.Options{
		Seal: o.Secrets.Seal, Open: o.Secrets.Open, Sign: o.Secrets.Sign,
		AdminPassword: string(cfg.AdminPassword), IdleTimeout: cfg.SessionIdleTimeout, MaxAge: cfg.SessionMaxAge, Retention: cfg.AuditRetention,
		Provider: cfg.OIDCIssuer, ProviderRoles: providerRoles(cfg), Recheck: cfg.OIDCRecheck,
	}
	if cfg.AuthDisabled {
		opts.AdminPassword = ""
	}
	return opts
}

// roleOrNone returns the role in a setting; "" = none.
func roleOrNone(setting string) accounts.Role {
	if setting == config.NoRole {
		return ""
	}
	return accounts.Role(setting)
}
