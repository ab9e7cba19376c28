package accounts

import (
	"strings"

	"linkwatch/models/accounts"
	"linkwatch/views/ui"
)

// TwoFactor is the page of the user's own two-factor authentication.
type TwoFactor struct {
	ui.Page
	User        accounts.User
	HasPassword bool // the account can be asked for a password
	CodesLeft   int
	Errors      ui.Errors

	Secret  string   // new key, to be typed; "" = none, or already shown
	QR      string   // QR code of the key, as SVG
	Confirm bool     // ask for a code of the new key
	Codes   []string // new recovery codes; nil = none
}

// grouped formats a secret in groups of four characters, which are easier to type.
func grouped(secret string) string {
	var b strings.Builder
	for i, r := range secret {
		if i > 0 && i%4 == 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}
