package accounts_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/PuerkitoBio/goquery"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/accounts"
)

// browser is an HTTP client with cookies.
type browser struct {
	*apptest.App
	address string
	cookies map[string]string
	headers map[string]string
}

func newBrowser(s *apptest.App, address string) *browser {
	return &browser{App: s, address: address, cookies: map[string]string{}, headers: map[string]string{"Accept": "text/html"}}
}

type response struct {
	*httptest.ResponseRecorder
	*goquery.Document
}

func (a response) location() string { return a.Header().Get("Location") }

// problem returns the error on the login page.
func (a response) problem() string { return strings.TrimSpace(a.Find(".field-error").Text()) }

func (b *browser) send(method, path string, form url.Values) response {
	b.Helper()
	r := httptest.NewRequestWithContext(b.Context(), method, path, strings.NewReader(form.Encode()))
	r.Host, r.RemoteAddr = "127.0.0.1:8080", b.address+":1"
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range b.headers {
		r.Header.Set(name, value)
	}
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	w := httptest.NewRecorder()
	b.Router.ServeHTTP(w, r)
	for _, k := range w.Result().Cookies() {
		if b.cookies[k.Name] = k.Value; k.MaxAge < 0 {
			delete(b.cookies, k.Name)
		}
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(w.Body.String()))
	if err != nil {
		b.Fatal(err)
	}
	return response{w, doc}
}

func (b *browser) login(username, password string, more ...string) response {
	b.Helper()
	form := url.Values{"username": {username}, "password": {password}}
	for i := 0; i < len(more); i += 2 {
		form.Set(more[i], more[i+1])
	}
	return b.send("POST", "/login", form)
}

func store(s *apptest.App) *accounts.Store { return s.Systems.Accounts.Store }

func add(s *apptest.App, name string, role accounts.Role) accounts.User {
	s.Helper()
	u, err := store(s).Add(s.Context(), accounts.NewUser{Username: name, Role: role, Password: goodPassword})
	s.Must(err)
	return u
}

// actions returns the actions of the audit log, newest first.
func actions(s *apptest.App) (all []string) {
	s.Helper()
	s.Must(store(s).Flush(s.Context()))
	l, err := store(s).Audit(s.Context(), accounts.AuditFilter{}, models.Cursor{}, 100)
	s.Must(err)
	for _, e := range l.Items {
		all = append(all, fmt.Sprintf("%s by %s from %s x%d", e.Action, e.Actor, e.Address, e.Attempts))
	}
	return all
}
