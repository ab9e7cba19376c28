package accounts

import (
	"strings"

	"linkwatch/models/accounts"
	"linkwatch/views/ui"
)

// TwoFactor is the page of one's own second factor.
type TwoFactor struct {
	ui.Page
	User        accounts.User
	HasPassword bool // there is a password that can be asked for
	CodesLeft   int
	Errors      ui.Errors

	Secret  string   // of a new key, to be typed; "" = there is none, or it was shown before
	QR      string   // SVG of it
	Confirm bool     // a code of the new key is asked for
	Codes   []string // recovery codes that were just made; nil = none
}

// grouped is a secret in groups of four characters, which are easier to type.
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
