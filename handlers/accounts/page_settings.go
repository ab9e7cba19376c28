package accounts

import (
	"cmp"
	"errors"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/middleware"
	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/models/audit"
	views "linkwatch/views/accounts"
	"linkwatch/views/ui"
)

// currentUser returns the user's own account. If there is none, it writes the response and ok is false.
func (p Pages) currentUser(c *gin.Context) (u accounts.User, ok bool) {
	ctx := c.Request.Context()
	actor, _ := models.ActorOf(ctx)
	if !p.loginRequired() || actor.ID == "" {
		p.showNoAccount(c, actor)
		return u, false
	}
	u, err := p.Accounts.Get(ctx, actor.ID)
	if err != nil {
		p.Frame.Fail(c, err)
		return u, false
	}
	return u, true
}

// showNoAccount explains why there are no account settings. A form is redirected to that page.
func (p Pages) showNoAccount(c *gin.Context, actor models.Actor) {
	if c.Request.Method == http.MethodPost {
		p.Frame.SeeOther(c, views.SettingsPath)
		return
	}
	v := views.NoAccount{AuthDisabled: p.Open, Page: p.Frame.Page("Settings", ui.SettingsSection, ui.Flash{})}
	if p.loginRequired() {
		v.Via = actor.Via
	}
	p.Frame.Show(c, http.StatusOK, views.NoAccountPage(v))
}

// sessionOf returns the session id of a request; "" = another credential.
func sessionOf(c *gin.Context) string {
	if actor, _ := models.ActorOf(c.Request.Context()); actor.Via == "session" {
		return actor.CredentialID
	}
	return ""
}

// SettingsPage is the page of the user's own account.
func (p Pages) SettingsPage(c *gin.Context) {
	if u, ok := p.currentUser(c); ok {
		p.showSettings(c, http.StatusOK, u, nil)
	}
}

func (p Pages) showSettings(c *gin.Context, status int, u accounts.User, errs ui.Errors) {
	ctx := c.Request.Context()
	actor, _ := models.ActorOf(ctx)
	v := views.Settings{
		User: u, Via: actor.Via, Session: sessionOf(c), Errors: errs,
		HasPassword: p.Accounts.HasPassword(u), MaySetPassword: p.Accounts.MaySetPassword(u),
	}
	var flash ui.Flash
	if !p.Frame.Read(c,
		func() (err error) { v.Sessions, err = p.Accounts.Sessions(ctx, u); return },
		func() (err error) { v.CodesLeft, err = p.Accounts.RecoveryCodesLeft(ctx, u); return },
		func() (err error) { flash, err = p.Frame.Flash(c, views.SettingsPath); return },
	) {
		return
	}
	slices.SortStableFunc(v.Sessions, func(a, b accounts.Session) int { return boolToInt(b.ID == v.Session) - boolToInt(a.ID == v.Session) })
	v.Page = p.Frame.Page("Settings", ui.SettingsSection, flash)
	p.Frame.Show(c, status, views.SettingsPage(v))
}

func boolToInt(is bool) int {
	if is {
		return 1
	}
	return 0
}

// ChangePassword changes the password of the user.
func (p Pages) ChangePassword(c *gin.Context) {
	u, ok := p.currentUser(c)
	if !ok {
		return
	}
	err := p.withSecret(c, u, currentPassword, func() error {
		return p.Accounts.ChangePassword(c.Request.Context(), u, c.PostForm(currentPassword), c.PostForm("password"))
	})
	if errs, ok := formErrors(err, "password"); ok {
		p.showSettings(c, p.Frame.FormStatus(c, err), u, errs)
		return
	}
	p.Frame.Done(c, err, views.SettingsPath, "password_changed")
}

// The form fields with a secret of the user, which can be guessed.
const (
	currentPassword = "current_password"
	currentCode     = "code"
)

// withSecret runs a change that requires the current password or a code. Wrong ones are limited like failed logins, so
// that a stolen session cannot guess them. They are counted for the session, not for its network.
func (p Pages) withSecret(c *gin.Context, u accounts.User, field string, do func() error) error {
	kind, plural := "password", "passwords"
	if field == currentCode {
		kind, plural = "code", "codes"
	}
	actor, _ := models.ActorOf(c.Request.Context())
	subject := audit.Subject{Kind: "user", ID: u.ID, Name: u.Username}
	wait, succeed := p.Guesses.Login(c.Request, u.Username, "credential "+cmp.Or(actor.CredentialID, actor.ID), nil)
	if wait > 0 {
		p.Accounts.Refused(actor, kind+".throttled", subject, nil)
		return middleware.RateLimited("Too many wrong "+plural+".", wait)
	}
	err := do()
	if m, ok := errors.AsType[*models.Error](err); ok && slices.ContainsFunc(m.Fields, func(f models.FieldError) bool { return f.Location == field }) {
		p.Accounts.Refused(actor, kind+".failed", subject, nil)
		return err
	}
	succeed()
	return err
}

// formErrors returns the messages of an error that the user can correct, by field. Errors without a field are put at
// fallback. ok is false for other errors.
func formErrors(err error, fallback string) (errs ui.Errors, ok bool) {
	if limited, ok := errors.AsType[*middleware.Problem](err); ok {
		field := currentPassword
		if fallback == currentCode {
			field = currentCode
		}
		return ui.Errors{field: limited.Detail}, true
	}
	if models.CodeOf(err) == models.CodeConflict {
		m, _ := errors.AsType[*models.Error](err)
		return ui.Errors{fallback: m.Detail}, true
	}
	return pages.FormErrors(err, fallback, views.Labels)
}

// EndSession ends one session of the user.
func (p Pages) EndSession(c *gin.Context) {
	u, ok := p.currentUser(c)
	if !ok {
		return
	}
	id := c.Param("id")
	if id == sessionOf(c) {
		p.Logout(c)
		return
	}
	p.Frame.Done(c, p.Accounts.EndSession(c.Request.Context(), u, id), views.SettingsPath, "session_ended")
}

// EndSessions ends all sessions of the user.
func (p Pages) EndSessions(c *gin.Context) {
	u, ok := p.currentUser(c)
	if !ok {
		return
	}
	err := p.Accounts.EndSessions(c.Request.Context(), u)
	if err != nil || sessionOf(c) == "" {
		p.Frame.Done(c, err, views.SettingsPath, "sessions_ended")
		return
	}
	p.clearSession(c, "")
}
