package middleware

import (
	"context"

	"linkwatch/models"
)

// Account is whose credential a request has.
type Account struct {
	ID, Name   string
	Role       Role
	Credential string // id of the session or token
	// Allow returns the role that the scopes of a token give in a system; nil = as the account.
	Allow func(system string) Role
}

// Accounts knows accounts and their credentials. Errors are those of the database.
type Accounts interface {
	// InUse reports whether there is an account, so that everybody has to sign in.
	InUse() bool
	// BySession returns whose session a secret is; ok is false if it is none, or has ended.
	BySession(ctx context.Context, secret string) (a Account, ok bool, err error)
	// ByToken returns whose API token a secret is; ok is false if it is none that is valid.
	// expired is whether it was.
	ByToken(ctx context.Context, secret, address string) (a Account, ok, expired bool, err error)
	// ByName returns the account of a name. known is whether there is or was one, open whether
	// it can be used.
	ByName(ctx context.Context, name string) (a Account, known, open bool, err error)
	// ByProxy is ByName for a user that a proxy has authenticated, and adds an account if the
	// settings say so; ok is false if the user may not sign in.
	ByProxy(ctx context.Context, name string) (a Account, ok bool, err error)
	// Refused records that an actor was refused. what is the action, subject what it asked for.
	Refused(actor models.Actor, what, subject string)
}

// TokenPrefix begins each API token.
const TokenPrefix = "lw_"

// noAccounts are the Accounts of a server that has none.
type noAccounts struct{}

func (noAccounts) InUse() bool { return false }

func (noAccounts) BySession(context.Context, string) (Account, bool, error) {
	return Account{}, false, nil
}

func (noAccounts) ByToken(context.Context, string, string) (a Account, ok, expired bool, err error) {
	return Account{}, false, false, nil
}

func (noAccounts) ByName(context.Context, string) (a Account, known, open bool, err error) {
	return Account{}, false, false, nil
}

func (noAccounts) ByProxy(context.Context, string) (Account, bool, error) {
	return Account{}, false, nil
}

func (noAccounts) Refused(models.Actor, string, string) {}
