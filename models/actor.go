package models

import (
	"context"

	"gorm.io/gorm"
)

// SystemOwner is the owner of items added while sign-in is off, or by background work.
const SystemOwner = "system"

// Actor is the author of a request: an account, or a program with a credential.
type Actor struct {
	ID           string // of the account; "" = none
	Name         string // of the account or credential; the owner of items that it adds
	Role         string // viewer, editor or admin; "" = sign-in is off
	SeesAll      bool   // an admin: also sees private items of others
	Via          string // how it was authenticated: "session", "token", "jwt", "password", "proxy", "cli"; "" = sign-in is off
	CredentialID string // id of the session or token; "" = none
	Address      string // of the client; "" = unknown
	Request      string // id of the request
}

type actorKey struct{}

// WithActor returns ctx with the actor of a request.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, &a)
}

// ActorOf returns the actor of a request. ok is false for background work and public routes, which have no actor
// and see everything.
func ActorOf(ctx context.Context) (a Actor, ok bool) {
	p, ok := ctx.Value(actorKey{}).(*Actor)
	if !ok {
		return Actor{Name: SystemOwner, SeesAll: true}, false
	}
	return *p, true
}

// Owner returns the owner of items that a request adds.
func Owner(ctx context.Context) string {
	a, _ := ActorOf(ctx)
	return a.Name
}

// PrivateTo returns the value of the column private_to: "" if the item is shared with all accounts, else its
// owner.
func PrivateTo(owner string, private bool) string {
	if private {
		return owner
	}
	return ""
}

// Visible returns the SQL condition for rows that the actor of tx may see: shared rows and its own. Admins and
// background work see all rows. table is the name or alias of a table with the column private_to.
func Visible(tx *gorm.DB, table string) (sql string, args []any) {
	a, _ := ActorOf(tx.Statement.Context)
	if a.SeesAll {
		return "TRUE", nil
	}
	return OwnScope(tx, table)
}

// OwnScope is like Visible, but excludes private rows of others for admins too. URLs are unique within this scope,
// so lookups by URL use it.
func OwnScope(tx *gorm.DB, table string) (sql string, args []any) {
	return table + ".private_to IN ('', ?)", []any{Owner(tx.Statement.Context)}
}

// MayShare returns CodeForbidden unless the actor of ctx is the owner of an item or an admin.
func MayShare(ctx context.Context, owner string) error {
	if a, _ := ActorOf(ctx); a.SeesAll || a.Name == owner {
		return nil
	}
	return &Error{Code: CodeForbidden, Detail: "Only the owner or an admin can change who sees this."}
}
