package accounts

import (
	"linkwatch/models/accounts"
	"linkwatch/views/ui"
)

// Settings is the page of the user's own account.
type Settings struct {
	ui.Page
	User           accounts.User
	Via            string // how the user signed in: models.Actor.Via
	Session        string // id of the user's session; "" = none
	Sessions       []accounts.Session
	CodesLeft      int  // unused recovery codes
	HasPassword    bool // the account can be asked for a password
	MaySetPassword bool // the user may change the password
	Errors         ui.Errors
}

// NoAccount is the settings page for a user without an account.
type NoAccount struct {
	ui.Page
	AuthDisabled bool   // AUTH_DISABLED is set
	Via          string // how the user signed in: models.Actor.Via; "" = no login is required
}

// viaWords describe models.Actor.Via.
var viaWords = map[string]string{
	"session": "session", "token": "API token", "jwt": "JWT", "password": "password", "proxy": "proxy", "oidc": "single sign-on", "cli": "command line", "link": "signed link",
}

// via describes how someone authenticated.
func via(via string) string {
	if words, ok := viaWords[via]; ok {
		return words
	}
	return via
}

func device(s accounts.Session) string {
	if s.Device == "" {
		return "Unknown device"
	}
	return s.Device
}
