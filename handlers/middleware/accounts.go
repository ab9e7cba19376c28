package middleware

import (
	"context"

	"linkwatch/models"
)

// Account is the account that a credential belongs to.
type Account struct {
	ID, Name   string
	Role       Role
	Credential string // id of the session or token
	// Recheck means that the browser must return to the identity provider before the session can be used.
	Recheck bool
	// Allow returns the role that the scopes of a token allow in a system; nil = not limited by scopes.
	Allow func(system string) Role
}

// Accounts finds accounts by their credentials. Its errors are database errors.
type Accounts interface {
	// InUse reports whether there is an account. If so, sign-in is required.
	InUse() bool
	// BySession returns the account of a session. ok is false if the session is unknown or has ended, or if a.Recheck
	// is true.
	BySession(ctx context.Context, secret string) (a Account, ok bool, err error)
	// ByToken returns the account of an API token. ok is false if the token is not valid, and
	// expired is true if it has expired.
	ByToken(ctx context.Context, secret, address string) (a Account, ok, expired bool, err error)
	// ByName returns the account of a name. known is true if it exists or existed, open if it can
	// be used.
	ByName(ctx context.Context, name string) (a Account, known, open bool, err error)
	// ByProxy returns the account of a user that a proxy has authenticated, and adds it if the
	// settings allow that. ok is false if the user may not sign in.
	ByProxy(ctx context.Context, name string) (a Account, ok bool, err error)
	// Refused records a refused request in the audit log, with the action and its subject.
	Refused(actor models.Actor, what, subject string)
	// Read records that an admin read an item, if a parameter of the request names one. ok is false if it does not.
	Read(actor models.Actor, name, value string) (ok bool)
}

// TokenPrefix is the prefix of all API tokens.
const TokenPrefix = "lw_"

// noAccounts implements Accounts for a server without accounts.
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

func (noAccounts) Read(models.Actor, string, string) bool { return false }
