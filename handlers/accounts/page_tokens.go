package accounts

import (
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
	"linkwatch/models/accounts"
	views "linkwatch/views/accounts"
	"linkwatch/views/ui"
)

// tokensShown is the page size of the list. It is more than an account can have.
const tokensShown = 200

// TokensPage lists the user's API tokens.
func (p Pages) TokensPage(c *gin.Context) {
	if u, ok := p.currentUser(c); ok {
		p.showTokens(c, http.StatusOK, u, views.Tokens{Form: views.TokenForm{Expires: views.DefaultExpiry}})
	}
}

// showTokens shows the list. The page must not be cached, because it may contain a token.
func (p Pages) showTokens(c *gin.Context, status int, u accounts.User, v views.Tokens) {
	list, err := p.Accounts.Tokens(c.Request.Context(), &u, models.Cursor{}, tokensShown)
	if err != nil {
		p.Frame.Fail(c, err)
		return
	}
	v.User, v.Tokens = u, list.Items
	v.Page = p.Frame.Page("API tokens", ui.SettingsSection, p.Frame.Notice(c))
	p.Frame.Show(c, status, views.TokensPage(v))
}

// AddToken creates an API token. The response is the only page that shows it.
func (p Pages) AddToken(c *gin.Context) {
	u, ok := p.currentUser(c)
	if !ok {
		return
	}
	form := views.TokenForm{Name: models.Truncate(models.CleanLine(c.PostForm("name")), maxTyped), Scopes: c.PostFormArray("scopes"), Expires: c.PostForm("expires")}
	n := accounts.NewToken{Name: form.Name, Scopes: form.Scopes}
	i := slices.IndexFunc(views.Expiries, func(e views.Expiry) bool { return e.Value == form.Expires })
	var err error
	if i < 0 {
		err = models.Invalid("expires_at", "must be one of the options")
	} else if days := views.Expiries[i].Days; days > 0 {
		n.ExpiresAt = p.Accounts.Now().Add(time.Duration(days) * models.Day)
	}
	var made accounts.Token
	var secret string
	if err == nil {
		made, secret, err = p.Accounts.AddToken(c.Request.Context(), u, n)
	}
	if errs, ok := formErrors(err, "name"); ok {
		p.showTokens(c, p.Frame.FormStatus(c, err), u, views.Tokens{Form: form, Errors: errs})
		return
	}
	if err != nil {
		p.Frame.Fail(c, err)
		return
	}
	p.showTokens(c, http.StatusCreated, u, views.Tokens{Form: views.TokenForm{Expires: views.DefaultExpiry}, Made: &made, Secret: secret})
}

// maxTyped is the maximum number of characters of an input that a form shows again.
const maxTyped = 200

// RevokeToken revokes one of the user's API tokens.
func (p Pages) RevokeToken(c *gin.Context) {
	u, ok := p.currentUser(c)
	if !ok {
		return
	}
	p.Frame.Done(c, p.Accounts.Revoke(c.Request.Context(), &u, c.Param("id")), views.TokensPath, "token_revoked")
}
