package accounts

import (
	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	views "linkwatch/views/accounts"
	"linkwatch/views/ui"
)

// paramDeleted is the query parameter with the id of a deleted account. It selects the notice that offers to undo it.
const paramDeleted = "user_deleted"

// Flashes returns the notices of accounts.
func (p Pages) Flashes() pages.Flash {
	return pages.Flash{Params: []string{paramDeleted}, Read: readFlash, Notices: map[string]ui.Flash{
		"password_changed":     {Text: "Password changed. Your other sessions have ended."},
		"session_ended":        {Text: "Session ended."},
		"sessions_ended":       {Text: "Signed out everywhere."},
		"two_factor_off":       {Text: "Two-factor authentication turned off."},
		"token_revoked":        {Text: "Token revoked."},
		"user_added":           {Text: "User added."},
		"user_disabled":        {Text: "User disabled. All sessions of the user have ended."},
		"user_enabled":         {Text: "User enabled."},
		"user_password":        {Text: "Password set. All sessions of the user have ended."},
		"user_password_tokens": {Text: "Password set. All sessions of the user have ended, and all API tokens are revoked."},
		"user_two_factor_off":  {Text: "Two-factor authentication turned off for this user."},
		"user_signed_out":      {Text: "Signed out everywhere."},
		"user_restored":        {Text: "User restored, without sessions and API tokens."},
	}}
}

func readFlash(c *gin.Context, here string) (f ui.Flash, found bool, err error) {
	if id := c.Query(paramDeleted); models.CheckID(models.KindUser, id) == nil {
		f = ui.Flash{Text: "User deleted.", Action: ui.Action{Label: "Undo", Path: views.UserPath(id) + "/restore", Back: here}}
	}
	return f, f.Text != "", nil
}
