package accounts

import (
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

// noStore is the Cache-Control of a page with a secret that is shown once.
const noStore = "no-store"

// reader returns the account of the reader of a page of settings. If there is none, the page
// says why, and ok is false.
func (p Pages) reader(c *gin.Context) (u accounts.User, ok bool) {
	ctx := c.Request.Context()
	actor, _ := models.ActorOf(ctx)
	if !p.mustSignIn() || actor.ID == "" {
		p.closed(c, actor)
		return u, false
	}
	u, err := p.Accounts.Get(ctx, actor.ID)
	if err != nil {
		p.Frame.Fail(c, err)
		return u, false
	}
	return u, true
}

// closed explains why the reader has no settings. A form goes back to that page.
func (p Pages) closed(c *gin.Context, actor models.Actor) {
	if c.Request.Method == http.MethodPost {
		p.Frame.SeeOther(c, views.SettingsPath)
		return
	}
	v := views.Closed{AuthDisabled: p.Open, Page: p.Frame.Page("Settings", ui.SettingsSection, ui.Flash{})}
	if p.mustSignIn() {
		v.Via = actor.Via
	}
	p.Frame.Show(c, http.StatusOK, views.ClosedPage(v))
}

// sessionOf is the id of the session of a request; "" = it has another credential.
func sessionOf(c *gin.Context) string {
	if actor, _ := models.ActorOf(c.Request.Context()); actor.Via == "session" {
		return actor.Of
	}
	return ""
}

// SettingsPage is the account of the reader.
func (p Pages) SettingsPage(c *gin.Context) {
	if u, ok := p.reader(c); ok {
		p.showSettings(c, http.StatusOK, u, nil)
	}
}

func (p Pages) showSettings(c *gin.Context, status int, u accounts.User, errs ui.Errors) {
	ctx := c.Request.Context()
	actor, _ := models.ActorOf(ctx)
	v := views.Settings{User: u, Via: actor.Via, Session: sessionOf(c), HasPassword: p.Accounts.HasPassword(u), Errors: errs}
	var flash ui.Flash
	if !p.Frame.Read(c,
		func() (err error) { v.Sessions, err = p.Accounts.Sessions(ctx, u); return },
		func() (err error) { v.CodesLeft, err = p.Accounts.RecoveryCodesLeft(ctx, u); return },
		func() (err error) { flash, err = p.Frame.Flash(c, views.SettingsPath); return },
	) {
		return
	}
	slices.SortStableFunc(v.Sessions, func(a, b accounts.Session) int { return first(b.ID == v.Session) - first(a.ID == v.Session) })
	v.Page = p.Frame.Page("Settings", ui.SettingsSection, flash)
	p.Frame.Show(c, status, views.SettingsPage(v))
}

func first(is bool) int {
	if is {
		return 1
	}
	return 0
}

// ChangePassword gives the account of the reader another password.
func (p Pages) ChangePassword(c *gin.Context) {
	u, ok := p.reader(c)
	if !ok {
		return
	}
	err := p.byPassword(c, u, func() error {
		return p.Accounts.ChangePassword(c.Request.Context(), u, c.PostForm("current_password"), c.PostForm("password"))
	})
	if errs, ok := formErrors(err, "password"); ok {
		p.showSettings(c, p.Frame.FormStatus(c, err), u, errs)
		return
	}
	p.Frame.Done(c, err, views.SettingsPath, "password_changed")
}

// byPassword does what needs the present password of an account. Wrong ones are counted and
// limited as those of logins are, so that a stolen session does not help to guess it.
func (p Pages) byPassword(c *gin.Context, u accounts.User, do func() error) error {
	actor, _ := models.ActorOf(c.Request.Context())
	of := audit.Subject{Kind: "user", ID: u.ID, Name: u.Username}
	wait, right := p.Guesses.Login(c.Request, u.Username, func() bool { return true })
	if wait > 0 {
		p.Accounts.Refused(actor, "password.throttled", of)
		return middleware.RateLimited("Too many wrong passwords.", wait)
	}
	err := do()
	if m, ok := errors.AsType[*models.Error](err); ok && slices.ContainsFunc(m.Fields, func(f models.FieldError) bool { return f.Location == "current_password" }) {
		p.Accounts.Refused(actor, "password.failed", of)
		return err
	}
	right()
	return err
}

// formErrors are the messages of an error that the reader of a form can correct, by field; ok is
// false for any other. What concerns no field is put to fallback.
func formErrors(err error, fallback string) (errs ui.Errors, ok bool) {
	if limited, ok := errors.AsType[*middleware.Problem](err); ok {
		return ui.Errors{"current_password": limited.Detail}, true
	}
	if models.CodeOf(err) == models.CodeConflict {
		m, _ := errors.AsType[*models.Error](err)
		return ui.Errors{fallback: m.Detail}, true
	}
	return pages.LabelledErrors(err, fallback, views.Labels)
}

// EndSession signs the reader out of one session.
func (p Pages) EndSession(c *gin.Context) {
	u, ok := p.reader(c)
	if !ok {
		return
	}
	id := c.Param("id")
	if id == sessionOf(c) {
		p.Logout(c)
		return
	}
	p.Frame.Done(c, p.Accounts.EndOne(c.Request.Context(), u, id), views.SettingsPath, "session_ended")
}

// EndSessions signs the reader out everywhere.
func (p Pages) EndSessions(c *gin.Context) {
	u, ok := p.reader(c)
	if !ok {
		return
	}
	err := p.Accounts.EndAll(c.Request.Context(), u)
	if err != nil || sessionOf(c) == "" {
		p.Frame.Done(c, err, views.SettingsPath, "sessions_ended")
		return
	}
	p.leave(c)
}
