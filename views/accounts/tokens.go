package accounts

import (
	"slices"
	"strings"

	"linkwatch/models/accounts"
	"linkwatch/views/ui"
)

// Tokens is the page of the user's own API tokens.
type Tokens struct {
	ui.Page
	User   accounts.User
	Tokens []accounts.Token
	Form   TokenForm
	Errors ui.Errors
	Made   *accounts.Token // the token that was just created; nil = none
	Secret string          // of Made
}

// TokenForm is the form for a new token, as submitted.
type TokenForm struct {
	Name    string
	Scopes  []string
	Expires string // one of Expiries
}

// Expiry is an option for the expiry of a token.
type Expiry struct {
	Value, Label string
	Days         int // 0 = never
}

// Expiries are the options for the expiry of a token.
var Expiries = []Expiry{{"30", "In 30 days", 30}, {"90", "In 90 days", 90}, {"365", "In 1 year", 365}, {"never", "Never", 0}}

// DefaultExpiry is the option that is selected at first.
const DefaultExpiry = "90"

// scopeColumns returns the columns of the scope table for a role.
func scopeColumns(r accounts.Role) []string {
	switch r {
	case accounts.Admin:
		return []string{"Read", "Write", "Admin"}
	case accounts.Editor:
		return []string{"Read", "Write"}
	}
	return []string{"Read"}
}

// scopeRows returns the rows of the scope table: everything, then one row per system.
func scopeRows(r accounts.Role) []scopeRow {
	n := len(scopeColumns(r))
	rows := []scopeRow{{Label: "Everything", Scopes: []string{"read", "write", "admin"}[:n]}}
	for _, system := range accounts.Systems {
		rows = append(rows, scopeRow{Label: systemLabels[system], Scopes: []string{system + ":read", system + ":write", ""}[:n]})
	}
	return rows
}

// scopeHelp explains the scopes that the role can use.
func scopeHelp(r accounts.Role) string {
	switch r {
	case accounts.Admin:
		return "Write includes read. Admin includes everything, including users and tokens."
	case accounts.Editor:
		return "Write includes read."
	}
	return "A viewer can only read."
}

type scopeRow struct {
	Label  string
	Scopes []string // "" = no checkbox
}

// scopeVerb returns a scope without the system: "read".
func scopeVerb(scope string) string { return scope[strings.Index(scope, ":")+1:] }

var systemLabels = map[string]string{
	"links": "Links", "targets": "Targets", "shortlinks": "Short links", "crawl": "Crawl", "sites": "Sites", "alerts": "Alerts",
}

func (f TokenForm) has(scope string) bool { return slices.Contains(f.Scopes, scope) }

func expired(p ui.Page, t accounts.Token) bool {
	return !t.ExpiresAt.IsZero() && !p.Now.Before(t.ExpiresAt.Time)
}
