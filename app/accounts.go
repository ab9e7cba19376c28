package app

import (
	"fmt"

	"linkwatch/config"
	"linkwatch/handlers"
	accounthandlers "linkwatch/handlers/accounts"
	"linkwatch/handlers/middleware"
	"linkwatch/jobs"
	accountjobs "linkwatch/jobs/accounts"
	"linkwatch/models/accounts"
	"linkwatch/models/cleanup"
)

// Accounts is the system of accounts: login, sessions, tokens, roles and the audit log.
type Accounts struct {
	System
	Store  *accounts.Store
	Access middleware.AccessOptions // what the access guard goes by
}

// newAccounts wires accounts.
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
	if provider != nil { // an interface that holds a nil is not nil
		deps.SSO = provider
	}
	pages := accounthandlers.Pages{Deps: deps}
	return &Accounts{
		Store: store,
		Access: middleware.AccessOptions{
			Accounts: accounthandlers.Gate{Store: store, ProxyRole: roleOrNone(cfg.AuthProxyRole)}, Guesses: guesses, Cookies: cookies,
			Password: string(cfg.AdminPassword), JWTSecret: string(cfg.AuthJWTSecret), Disabled: cfg.AuthDisabled, Required: required,
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
				{Kind: "sessions", Label: "Sessions", Description: "that have ended", Remove: store.ReapSessions},
				{Kind: "tokens", Label: "API tokens", Description: "30 days after they expired", Remove: store.ReapTokens},
				{Kind: "accounts", Label: "Accounts", Description: fmt.Sprintf("secrets of accounts, %d hours after they were deleted", int(accounts.KeepDeleted.Hours())), Remove: store.ReapUsers},
				{Kind: "audit_entries", Label: "Audit entries", Description: "older than " + cfg.AuditRetention.String(), Remove: store.ReapAudit},
			},
		},
	}
}

// accountOptions are the options of the store of accounts, for the server and for commands.
func accountOptions(o Options) accounts.Options {
	cfg := o.Config
	opts := accounts.Options{
		Seal: o.Secrets.Seal, Open: o.Secrets.Open, Sign: o.Secrets.Sign,
		AdminPassword: string(cfg.AdminPassword), IdleTimeout: cfg.SessionIdleTimeout, MaxAge: cfg.SessionMaxAge, Retention: cfg.AuditRetention,
	}
	if cfg.AuthDisabled {
		opts.AdminPassword = ""
	}
	return opts
}

// roleOrNone is a role of the settings, where none is "none".
func roleOrNone(setting string) accounts.Role {
	if setting == config.NoRole {
		return ""
	}
	return accounts.Role(setting)
}
