// Package accounts keeps who may use the program: accounts with their roles, logins
// (sessions), second factors and API tokens. It also reads the audit log, which all systems
// write (models/audit).
//
// Secrets are stored so that a copy of the database opens nothing: passwords by argon2id,
// the secrets of sessions and tokens, which are random, by SHA-256, recovery codes by an
// HMAC, and keys of second factors encrypted.
package accounts

import (
	"regexp"
	"slices"
	"strings"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// Role is what an account may do. Each includes the ones before it: a viewer reads, an
// editor changes, an admin also manages accounts and the machinery.
type Role string

// The roles.
const (
	Viewer Role = "viewer"
	Editor Role = "editor"
	Admin  Role = "admin"
)

// Roles are all roles, the lowest first.
func Roles() []Role { return []Role{Viewer, Editor, Admin} }

func (r Role) check() error {
	if !slices.Contains(Roles(), r) {
		return models.Invalid("role", "must be admin, editor or viewer")
	}
	return nil
}

// IssuerProxy is the OIDCIssuer of accounts that were added for users that a proxy has authenticated.
const IssuerProxy = "proxy"

// AdminName is the username of the account that ADMIN_PASSWORD signs in.
const AdminName = "admin"

// User is an account.
type User struct {
	Seq               int64 `gorm:"primaryKey"`
	ID                string
	Username          string // in lower case
	Role              Role
	Disabled          bool
	PasswordHash      string // argon2id; "" = it cannot sign in by a password
	PasswordChangedAt models.Time
	TOTPSecret        []byte      `gorm:"column:totp_secret"` // encrypted; nil = no second factor
	TOTPConfirmedAt   models.Time `gorm:"column:totp_confirmed_at"`
	TOTPStep          int64       `gorm:"column:totp_step"`
	OIDCIssuer        string      `gorm:"column:oidc_issuer"` // "" = it was not made by single sign-on
	OIDCSubject       string      `gorm:"column:oidc_subject"`
	CreatedAt         models.Time
	UpdatedAt         models.Time
	LastLoginAt       models.Time
	DeletedAt         models.Time
}

// HasTOTP reports whether the account has a second factor.
func (u User) HasTOTP() bool { return !u.TOTPConfirmedAt.IsZero() }

// HasPassword reports whether the account can sign in by a password of its own.
func (u User) HasPassword() bool { return u.PasswordHash != "" }

// SeesAll reports whether the account sees private items of others.
func (u User) SeesAll() bool { return u.Role == Admin }

// subject is the account as the audit log names it.
func (u User) subject() audit.Subject { return audit.Subject{Kind: "user", ID: u.ID, Name: u.Username} }

// values are what the audit log tells of an account.
func (u User) values() audit.Values {
	return audit.Values{"username": u.Username, "role": u.Role, "disabled": u.Disabled}
}

// username is one to 64 of a-z, 0-9, dot, dash and underscore, the first of which is a letter or digit.
var username = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// cleanUsername brings a username to its stored form.
func cleanUsername(name string) (string, error) {
	name = foldUsername(name)
	switch {
	case !username.MatchString(name):
		return "", models.Invalid("username", "must be 1 to 64 letters from a to z, digits, dots, dashes or underscores, and begin with a letter or digit")
	case name == models.SystemOwner:
		return "", models.Invalid("username", "must not be %s: that is the owner of what was added before there were accounts", models.SystemOwner)
	}
	return name, nil
}

func foldUsername(name string) string { return strings.ToLower(strings.TrimSpace(name)) }
