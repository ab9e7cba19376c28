package accounts

import (
	"slices"
	"strings"

	"linkwatch/models/accounts"
	"linkwatch/views/ui"
)

// Tokens is the page of one's own API tokens.
type Tokens struct {
	ui.Page
	User   accounts.User
	Tokens []accounts.Token
	Form   TokenForm
	Errors ui.Errors
	Made   *accounts.Token // that was just created; nil = none
	Secret string          // of Made
}

// TokenForm is what was typed for a new token.
type TokenForm struct {
	Name    string
	Scopes  []string
	Expires string // one of Expiries
}

// Expiry is a choice for when a token expires.
type Expiry struct {
	Value, Label string
	Days         int // 0 = never
}

// Expiries are the choices for when a token expires. The second one is the default.
var Expiries = []Expiry{{"30", "In 30 days", 30}, {"90", "In 90 days", 90}, {"365", "In 1 year", 365}, {"never", "Never", 0}}

// DefaultExpiry is the one that the form begins with.
const DefaultExpiry = "90"

// scopeColumns are the columns of the form: what the role of an account allows.
func scopeColumns(r accounts.Role) []string {
	switch r {
	case accounts.Admin:
		return []string{"Read", "Write", "Admin"}
	case accounts.Editor:
		return []string{"Read", "Write"}
	}
	return []string{"Read"}
}

// scopeRows are the scopes as the form shows them: everything, then one system a row.
func scopeRows(r accounts.Role) []scopeRow {
	n := len(scopeColumns(r))
	rows := []scopeRow{{Label: "Everything", Scopes: []string{"read", "write", "admin"}[:n]}}
	for _, system := range accounts.Systems {
		rows = append(rows, scopeRow{Label: systemLabels[system], Scopes: []string{system + ":read", system + ":write", ""}[:n]})
	}
	return rows
}

// scopeHelp says what the scopes of the form include.
func scopeHelp(r accounts.Role) string {
	switch r {
	case accounts.Admin:
		return "Write includes read. Admin includes everything, also users and tokens."
	case accounts.Editor:
		return "Write includes read."
	}
	return "A viewer can only read."
}

type scopeRow struct {
	Label  string
	Scopes []string // "" = there is none
}

// does is what a scope allows, without the system: "read".
func does(scope string) string { return scope[strings.Index(scope, ":")+1:] }

var systemLabels = map[string]string{
	"links": "Links", "targets": "Targets", "shortlinks": "Short links", "crawl": "Crawl", "sites": "Sites", "alerts": "Alerts",
}

func (f TokenForm) has(scope string) bool { return slices.Contains(f.Scopes, scope) }

// expired reports whether a token has expired.
func expired(p ui.Page, t accounts.Token) bool {
	return !t.ExpiresAt.IsZero() && !p.Now.Before(t.ExpiresAt.Time)
}
