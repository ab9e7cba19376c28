package apptest

import (
	"net/http"
	"time"

	"linkwatch/models"
	"linkwatch/models/accounts"
)

// sessionCookieName is the name of the session cookie over HTTP.
const sessionCookieName = "linkwatch_session"

// AddUser adds an account without a password and advances the clock by a minute. With the
// first account, sign-in becomes mandatory.
func (a *App) AddUser(name string, role accounts.Role) accounts.User {
	a.Helper()
	u, err := a.Systems.Accounts.Store.Add(a.TB.Context(), accounts.NewUser{Username: name, Role: role, Issuer: "https://id.test", Subject: name})
	a.Must(err)
	a.Clock.Advance(time.Minute)
	return u
}

// SignIn starts a session of an account and returns an App whose page and API requests use
// the session.
func (a *App) SignIn(u accounts.User) *App {
	a.Helper()
	ctx := models.WithActor(a.TB.Context(), models.Actor{ID: u.ID, Name: u.Username, Role: string(u.Role), Via: "password", SeesAll: u.SeesAll()})
	secret, err := a.Systems.Accounts.Store.StartSession(ctx, u, accounts.Client{Address: "192.0.2.1", Device: "Firefox on Linux"}, "")
	a.Must(err)
	as := *a
	as.as, as.session = "", secret
	return &as
}

// Session returns the secret of the session of SignIn; "" = none.
func (a *App) Session() string { return a.session }

// signIn adds the session cookie to a request.
func (a *App) signIn(r *http.Request) {
	if a.session != "" {
		r.Header.Add("Cookie", sessionCookieName+"="+a.session)
	}
}
