// Package accounts serves the login page, the settings of one's own account, the accounts of
// others for admins, API tokens and the audit log; and it tells the access guard whose a
// credential is.
package accounts

import (
	"time"

	"linkwatch/handlers/middleware"
	"linkwatch/handlers/pages"
	"linkwatch/models/accounts"
)

// Deps are what the handlers need.
type Deps struct {
	Frame    *pages.Frame
	Accounts *accounts.Store
	Guesses  *middleware.Guesses
	Cookies  middleware.Cookies

	Open   bool                                           // AUTH_DISABLED: nobody has to sign in
	Closed bool                                           // everybody has to sign in, also while there is no account
	MaxAge time.Duration                                  // SESSION_MAX_AGE
	Seal   func(plain []byte, of string) ([]byte, error)  // encrypts what a browser keeps while it signs in elsewhere
	Unseal func(sealed []byte, of string) ([]byte, error) // decrypts it
	SSO    SSO                                            // nil = there is no single sign-on
	Name   string                                         // of the identity provider on the login page
}
