package accounts

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"linkwatch/models/accounts"
	views "linkwatch/views/accounts"
	"linkwatch/views/qr"
	"linkwatch/views/ui"
)

// TwoFactorPage is the page of the user's own two-factor authentication.
func (p Pages) TwoFactorPage(c *gin.Context) {
	if u, ok := p.currentUser(c); ok {
		p.showTwoFactor(c, http.StatusOK, u, views.TwoFactor{})
	}
}

// showTwoFactor shows the page. It must not be cached, because it may contain secrets.
func (p Pages) showTwoFactor(c *gin.Context, status int, u accounts.User, v views.TwoFactor) {
	left, err := p.Accounts.RecoveryCodesLeft(c.Request.Context(), u)
	if err != nil {
		p.Frame.Fail(c, err)
		return
	}
	v.User, v.HasPassword, v.CodesLeft = u, p.Accounts.HasPassword(u), left
	v.Page = p.Frame.Page("Two-factor authentication", ui.SettingsSection, p.Frame.Notice(c))
	p.Frame.Show(c, status, views.TwoFactorPage(v))
}

// PrepareTwoFactor creates and shows a new key for the second factor. It requires the current password, so that
// someone at an unlocked computer cannot lock the user out.
func (p Pages) PrepareTwoFactor(c *gin.Context) {
	u, ok := p.currentUser(c)
	if !ok {
		return
	}
	ctx := c.Request.Context()
	var key accounts.Setup
	err := p.withSecret(c, u, currentPassword, func() (err error) {
		if err = p.Accounts.CheckOwnPassword(ctx, u, c.PostForm(currentPassword)); err == nil {
			key, err = p.Accounts.PrepareTOTP(ctx, u)
		}
		return err
	})
	if errs, ok := formErrors(err, currentPassword); ok {
		p.showTwoFactor(c, p.Frame.FormStatus(c, err), u, views.TwoFactor{Errors: errs})
		return
	}
	var picture []byte
	if err == nil {
		picture, err = qr.Titled(key.URL, "QR code of the key")
	}
	if err != nil {
		p.Frame.Fail(c, err)
		return
	}
	p.showTwoFactor(c, http.StatusOK, u, views.TwoFactor{Confirm: true, Secret: key.Secret, QR: string(picture)})
}

// ConfirmTwoFactor turns on two-factor authentication, and shows the recovery codes.
func (p Pages) ConfirmTwoFactor(c *gin.Context) {
	u, ok := p.currentUser(c)
	if !ok {
		return
	}
	var codes []string
	err := p.withSecret(c, u, currentCode, func() (err error) {
		codes, err = p.Accounts.ConfirmTOTP(c.Request.Context(), u, c.PostForm(currentCode))
		return err
	})
	if errs, ok := formErrors(err, currentCode); ok {
		p.showTwoFactor(c, p.Frame.FormStatus(c, err), u, views.TwoFactor{Confirm: true, Errors: errs})
		return
	}
	if err != nil {
		p.Frame.Fail(c, err)
		return
	}
	p.showTwoFactor(c, http.StatusOK, u, views.TwoFactor{Codes: codes})
}

// RemoveTwoFactor turns off two-factor authentication.
func (p Pages) RemoveTwoFactor(c *gin.Context) {
	u, ok := p.currentUser(c)
	if !ok {
		return
	}
	err := p.withSecret(c, u, currentPassword, func() error { return p.Accounts.RemoveTOTP(c.Request.Context(), u, c.PostForm(currentPassword)) })
	if errs, ok := formErrors(err, currentPassword); ok {
		p.showTwoFactor(c, p.Frame.FormStatus(c, err), u, views.TwoFactor{Errors: errs})
		return
	}
	p.Frame.Done(c, err, views.SettingsPath, "two_factor_off")
}
