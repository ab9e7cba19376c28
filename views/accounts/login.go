// Package accounts holds the login page, the account settings, and the pages of users, API tokens and the audit log.
package accounts

import "linkwatch/views/ui"

// Login is the login page.
type Login struct {
	Username string
	Next     string // path to redirect to after the login
	Pending  string // replaces username and password if only the code is missing; "" = ask for them
	SSOName  string // name of the identity provider; "" = none
	SSOAway  string // URL of the provider that signs the user out there; "" = none
	Problem  string // error of the last attempt
	Notice   string
	Recheck  bool   // offer to let the identity provider confirm the session
	Form     string // sealed form that was submitted without a session; "" = none
}

// Setup is the page that adds the first account.
type Setup struct {
	Username string
	Errors   ui.Errors
}
