package accounts

import (
	"linkwatch/models/accounts"
	"linkwatch/views/ui"
)

// Settings is the page of one's own account.
type Settings struct {
	ui.Page
	User        accounts.User
	Via         string // how the reader has signed in: models.Actor.Via
	Session     string // id of the session of the reader; "" = it is none
	Sessions    []accounts.Session
	CodesLeft   int  // recovery codes
	HasPassword bool // there is a password that can be asked for
	Errors      ui.Errors
}

// Closed is the page of settings for a reader without an account.
type Closed struct {
	ui.Page
	AuthDisabled bool   // AUTH_DISABLED is set
	Via          string // how the reader has signed in: models.Actor.Via; "" = nobody has to
}

// viaWords say how somebody has proved who they are.
var viaWords = map[string]string{
	"session": "session", "token": "API token", "jwt": "JWT", "password": "password", "proxy": "proxy", "oidc": "single sign-on", "cli": "command line", "link": "signed link",
}

// via says how somebody has proved who they are.
func via(of string) string {
	if words, ok := viaWords[of]; ok {
		return words
	}
	return of
}

// device is the browser of a session.
func device(s accounts.Session) string {
	if s.Device == "" {
		return "Unknown device"
	}
	return s.Device
}
