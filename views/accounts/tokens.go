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

// scopeRows are the scopes as the form shows them: everything, then one system a row.
func scopeRows() []scopeRow {
	rows := []scopeRow{{Label: "Everything", Scopes: []string{"read", "write", "admin"}}}
	for _, system := range accounts.Systems {
		rows = append(rows, scopeRow{Label: systemLabels[system], Scopes: []string{system + ":read", system + ":write", ""}})
	}
	return rows
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
