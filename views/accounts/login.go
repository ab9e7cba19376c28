// Package accounts holds the login page, the settings of one's own account, and the pages of
// accounts, tokens and the audit log.
package accounts

import "linkwatch/views/ui"

// Login is the login page.
type Login struct {
	Username string
	Next     string // where to go after it
	Pending  string // stands for the username and the password where only the code is missing; "" = they are asked for
	SSOName  string // of the identity provider; "" = none
	Problem  string // why the last attempt did not work
	Notice   string
}

// Setup is the page on which the first account is added.
type Setup struct {
	Username string
	Errors   ui.Errors
}
