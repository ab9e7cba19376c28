// Package accounts stores accounts with their roles, sessions, second factors and API tokens. It also reads the audit log,
// which all systems write with package audit.
//
// A copy of the database does not reveal secrets. Passwords are hashed with argon2id, the random secrets of sessions and
// tokens with SHA-256, and recovery codes with an HMAC. Second-factor keys are encrypted.
package accounts

import (
	"regexp"
	"slices"
	"strings"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// Role is what an account may do. Each role includes the previous ones: a viewer can read, an editor can change, and an
// admin can manage accounts and run jobs.
type Role string

// The roles.
const (
	Viewer Role = "viewer"
	Editor Role = "editor"
	Admin  Role = "admin"
)

// Roles returns all roles, lowest first.
func Roles() []Role { return []Role{Viewer, Editor, Admin} }

func (r Role) check() error {
	if !slices.Contains(Roles(), r) {
		return models.Invalid("role", "must be admin, editor or viewer")
	}
	return nil
}

// IssuerProxy is the OIDCIssuer of accounts that were added for users of an authenticating reverse proxy.
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
	PasswordHash      string // argon2id; "" = no password
	PasswordChangedAt models.Time
	TOTPSecret        []byte      `gorm:"column:totp_secret"` // encrypted; nil = no second factor
	TOTPPreparedAt    models.Time `gorm:"column:totp_prepared_at"`
	TOTPConfirmedAt   models.Time `gorm:"column:totp_confirmed_at"`
	TOTPStep          int64       `gorm:"column:totp_step"`
	OIDCIssuer        string      `gorm:"column:oidc_issuer"`  // "" = not added by single sign-on
	OIDCSubject       string      `gorm:"column:oidc_subject"` // "" after the account was reaped
	OIDCSubjectHash   []byte      `gorm:"column:oidc_subject_hash"`
	CreatedAt         models.Time
	UpdatedAt         models.Time
	LastLoginAt       models.Time
	DeletedAt         models.Time
	RefusedAt         models.Time // when the identity provider refused the user; zero = not refused
}

// Origin is how an account was added.
type Origin string

// The origins.
const (
	OriginLocal    Origin = "local"
	OriginProvider Origin = "oidc"  // by the first single sign-on of its user
	OriginProxy    Origin = "proxy" // by the first request of its user through an authenticating proxy
)

// Origin returns how the account was added.
func (u User) Origin() Origin {
	switch u.OIDCIssuer {
	case "":
		return OriginLocal
	case IssuerProxy:
		return OriginProxy
	}
	return OriginProvider
}

// Blocked reports whether an admin has disabled the account or the identity provider has refused its user. Such an
// account cannot sign in, and its tokens are refused.
func (u User) Blocked() bool { return u.Disabled || !u.RefusedAt.IsZero() }

// HasTOTP reports whether the account has a second factor.
func (u User) HasTOTP() bool { return !u.TOTPConfirmedAt.IsZero() }

// HasPassword reports whether the account has its own password.
func (u User) HasPassword() bool { return u.PasswordHash != "" }

// SeesAll reports whether the account sees private items of other users.
func (u User) SeesAll() bool { return u.Role == Admin }

// subject returns the account as the subject of audit entries.
func (u User) subject() audit.Subject { return audit.Subject{Kind: "user", ID: u.ID, Name: u.Username} }

// values returns the values of the account that audit entries compare.
func (u User) values() audit.Values {
	v := audit.Values{"username": u.Username, "role": u.Role, "disabled": u.Disabled}
	if !u.RefusedAt.IsZero() {
		v["refused"] = true
	}
	return v
}

var usernameFormat = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// cleanUsername validates a username and returns its stored form.
func cleanUsername(name string) (string, error) {
	name = foldUsername(name)
	switch {
	case !usernameFormat.MatchString(name):
		return "", models.Invalid("username", "must have 1 to 64 characters, only a-z, 0-9, dots, dashes and underscores, and start with a letter or digit")
	case name == models.SystemOwner:
		return "", models.Invalid("username", "must not be %s. This name is reserved", models.SystemOwner)
	}
	return name, nil
}

func foldUsername(name string) string { return strings.ToLower(strings.TrimSpace(name)) }
