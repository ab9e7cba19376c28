// Package accounts serves the login, the account settings, the management of users, API tokens and the audit log. It
// also looks up credentials for the access guard.
package accounts

import (
	"time"

	"golang.org/x/sync/singleflight"

	"linkwatch/handlers/middleware"
	"linkwatch/handlers/pages"
	"linkwatch/models/accounts"
)

// Deps are the dependencies of the handlers.
type Deps struct {
	Frame    *pages.Frame
	Accounts *accounts.Store
	Guesses  *middleware.Guesses
	Cookies  middleware.Cookies

	Open   bool                                              // AUTH_DISABLED: no login is required
	Closed bool                                              // a login is required even without accounts
	MaxAge time.Duration                                     // SESSION_MAX_AGE
	Seal   func(plain []byte, owner string) ([]byte, error)  // encrypts the state of a single sign-on in its cookie
	Unseal func(sealed []byte, owner string) ([]byte, error) // decrypts it
	SSO    SSO                                               // nil = no single sign-on
	Name   string                                            // name of the identity provider

	checks singleflight.Group // of sessions at the identity provider, by session ID
}
