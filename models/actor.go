package models

import (
	"context"

	"gorm.io/gorm"
)

// SystemOwner is the owner of what is stored while nobody has to sign in.
const SystemOwner = "system"

// Actor is who makes a request: an account, or a program that holds a credential.
type Actor struct {
	ID      string // of the account; "" = there is none
	Name    string // of the account, or of the credential; the owner of what is added
	Role    string // viewer, editor or admin; "" = nobody has to sign in
	SeesAll bool   // private items of others too: an admin
	Via     string // how it proved who it is: "session", "token", "jwt", "password", "proxy", "cli"; "" = nobody has to sign in
	Of      string // the id of the session or token; "" = none
	Address string // of the client; "" = unknown
	Request string // id of the request
}

type actorKey struct{}

// WithActor returns ctx with the actor of a request.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, &a)
}

// ActorOf returns the actor of a request. ok is false for background work and public
// routes, which see everything: they act for no one.
func ActorOf(ctx context.Context) (a Actor, ok bool) {
	p, ok := ctx.Value(actorKey{}).(*Actor)
	if !ok {
		return Actor{Name: SystemOwner, SeesAll: true}, false
	}
	return *p, true
}

// Owner is the owner of what a request adds.
func Owner(ctx context.Context) string {
	a, _ := ActorOf(ctx)
	return a.Name
}

// PrivateTo is what the column private_to holds of an item of an owner: "" if the item is
// shared with all accounts, else the owner.
func PrivateTo(owner string, private bool) string {
	if private {
		return owner
	}
	return ""
}

// Visible is the condition for the rows that the actor of a transaction or read handle may
// see: those that are shared, and its own. Admins and background work see all. table is
// the name or alias of a table with the column private_to.
func Visible(tx *gorm.DB, table string) (sql string, args []any) {
	a, _ := ActorOf(tx.Statement.Context)
	if a.SeesAll {
		return "TRUE", nil
	}
	return OwnScope(tx, table)
}

// OwnScope is Visible without the private rows of others, for admins too. A URL is unique
// in each scope, so it is the condition to look one up by.
func OwnScope(tx *gorm.DB, table string) (sql string, args []any) {
	return table + ".private_to IN ('', ?)", []any{Owner(tx.Statement.Context)}
}

// MayShare returns CodeForbidden unless the actor of ctx may decide who sees an item: its
// owner, and admins.
func MayShare(ctx context.Context, owner string) error {
	if a, _ := ActorOf(ctx); a.SeesAll || a.Name == owner {
		return nil
	}
	return &Error{Code: CodeForbidden, Detail: "Only the owner or an admin can change who sees this."}
}
