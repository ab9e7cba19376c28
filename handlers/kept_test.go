package handlers_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/accounts"
)

const keptPassword = "correct horse battery"

// keptForms are the forms that the login page keeps, with fields that a user types. The first one is looked for.
var keptForms = map[string][]string{
	"/links": {"notes", "Long notes", "url", "https://kept.test/"}, "/links/:id": {"notes", "Long notes"}, "/links/:id/tags": {"tags", "one, two"},
	"/tags/:id": {"name", "other"}, "/watch": {"name", "My target", "url", "https://kept.test/"}, "/watch/:id": {"name", "My target"},
	"/status": {"description", "Long text", "title", "Kept", "save", "yes"}, "/status/:slug/edit": {"description", "Long text", "title", "Kept", "save", "yes"},
	"/short": {"title", "My title", "long_url", "https://kept.test/"}, "/short/:key": {"title", "My title", "long_url", "https://kept.test/"},
	"/crawl": {"name", "My site", "url", "https://kept.test/", "schedule", "once"}, "/crawl/jobs/:id": {"max_retries", "many retries", "schedule", "once"}, "/crawl/sources/:id": {"name", "My source", "job", ""},
	"/crawl/frontier": {"url", "https://kept.test/a"}, "/crawl/feeds": {"url", "https://kept.test/feed"},
	"/sites": {"name", "My site", "site_url", "https://kept.test/"}, "/sites/:id": {"name", "My site"}, "/sites/:id/sitemaps": {"url", "https://wombatsite.test/more.xml"},
	"/sites/:id/indexnow": {"indexnow_key", "my-own-key-123"},
	"/alerts/channels":    {"name", "My channel", "service", "webhook"}, "/alerts/channels/:id": {"name", "My channel"},
	"/alerts/rules": {"name", "My rule", "save", "yes"}, "/alerts/rules/:id": {"name", "My rule", "save", "yes"},
	"/alerts/maintenance": {"name", "My window", "save", "yes"}, "/alerts/maintenance/:id": {"name", "My window", "save", "yes"},
	"/settings/tokens": {"name", "My token", "scopes", "read"}, "/settings/users": {"username", "newbie", "role", "viewer"},
}

// guest posts forms like a browser with the cookies of a session that has ended.
type guest struct {
	*apptest.App
	cookie string
}

func (g *guest) post(path string, form url.Values) apptest.Page {
	g.Helper()
	r := httptest.NewRequestWithContext(g.TB.Context(), http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if g.cookie != "" {
		r.Header.Set("Cookie", "linkwatch_session="+g.cookie)
	}
	return g.Browse(r)
}

// login posts the login form of a page.
func (g *guest) login(page apptest.Page, username string) apptest.Page {
	g.Helper()
	form := values(page.Find(`form[action="/login"]`))
	form.Set("username", username)
	form.Set("password", keptPassword)
	return g.post("/login", form)
}

func newGuest(t *testing.T) (g *guest, b *belongings, root accounts.User) {
	t.Helper()
	a := apptest.New(t)
	root, err := a.Systems.Accounts.Store.Add(t.Context(), accounts.NewUser{Username: "boss", Role: accounts.Admin, Password: keptPassword})
	a.Must(err)
	_, b = everyItem(a)
	ended := a.SignIn(root).Session()
	a.Clock.Advance(90 * 24 * time.Hour)
	return &guest{a, ended}, b, root
}

// keeps submits a form without a session, and again as the login has shown it: with its version.
func (g *guest) keeps(route, path string, form url.Values, typed []string, username string) {
	g.Helper()
	for range 2 {
		page := g.post(path, form)
		if page.StatusCode != http.StatusUnauthorized || page.Find(`form[action="/login"] input[name=form]`).Length() != 1 || strings.Contains(page.HTML, typed[1]) {
			g.Errorf("%s: got %d, %s", route, page.StatusCode, page.HTML)
			return
		}
		again := g.login(page, username)
		if again.StatusCode != http.StatusOK || len(again.Header.Values("Set-Cookie")) == 0 {
			g.Errorf("%s: got %d, %s", route, again.StatusCode, apptest.Text(again, "main"))
			return
		}
		shown := values(again.Find(`form[action="` + path + `"], form[action^="` + path + `#"], form[action^="` + path + `?"]`))
		if !slices.Contains(shown[typed[0]], typed[1]) {
			g.Errorf("%s: the form does not have the text: %s", route, apptest.Text(again, "main"))
		}
		if text := again.Find("form .field-error, .error-summary").Text(); strings.Contains(text, "Not saved yet") { // this is no error of a field
			g.Errorf("%s: got the errors %q", route, text)
		}
		if notice := apptest.Text(again, "[data-errors] .flash"); !strings.Contains(notice, "not saved yet") {
			g.Errorf("%s: got the notice %q", route, notice)
		}
		for name, value := range form {
			shown[name] = value
		}
		form = shown
	}
}

// TestLoginKeepsForms: a form that is submitted after the session has ended is shown again after the login, with what was
// typed. Nothing is stored.
func TestLoginKeepsForms(t *testing.T) {
	const parts = 4 // each has its own limit of logins, for which it waits
	for part := range parts {
		t.Run(fmt.Sprintf("part %d", part+1), func(t *testing.T) {
			t.Parallel()
			g, b, root := newGuest(t)
			n := 0
			for _, r := range g.Router.Routes() {
				if len(r.Keeps) == 0 {
					continue
				}
				if n++; n%parts == part {
					g.keepsForm(r.Path, b, root)
				}
			}
			if n < 20 {
				t.Errorf("only %d routes keep forms", n)
			}
		})
	}
}

// keepsForm submits the form of a route and checks that nothing is stored.
func (g *guest) keepsForm(route string, b *belongings, root accounts.User) {
	g.Helper()
	typed := keptForms[route]
	if typed == nil {
		g.Errorf("%s: the test has no form", route)
		return
	}
	form := url.Values{}
	for i := 0; i < len(typed); i += 2 {
		form.Set(typed[i], typed[i+1])
	}
	if _, ok := form["job"]; ok {
		form.Set("job", b.ids["job"])
	}
	path := b.pathOf(route)
	if path == "" {
		path = strings.Replace(route, ":slug", "shop", 1)
	}
	before := g.changes()
	g.keeps(route, path, form, typed, root.Username)
	if after := g.changes(); len(after) != len(before) {
		g.Errorf("%s: got %d changes", route, len(after)-len(before))
	}
}

// changes returns the actions in the audit log, without logins.
func (g *guest) changes() (all []string) {
	g.Helper()
	l, err := g.Systems.Accounts.Store.Audit(g.Context(), accounts.AuditFilter{}, models.Cursor{}, 200)
	g.Must(err)
	for _, e := range l.Items {
		if e.Action != "login" && e.Action != "login.failed" {
			all = append(all, e.Action)
		}
	}
	return all
}

// The form survives a wrong password. It is dropped if another account signs in, if it is too old or changed, and if it does
// not come from this server. Secrets and other sites' forms are not kept.
func TestKeptFormIsSealed(t *testing.T) {
	g, b, root := newGuest(t)
	_, err := g.Systems.Accounts.Store.Add(t.Context(), accounts.NewUser{Username: "eve", Role: accounts.Admin, Password: keptPassword})
	g.Must(err)
	path := "/links/" + b.ids["link"]
	typed := url.Values{"notes": {"long notes"}, "password": {"p4ssw0rd"}}
	page := g.post(path, typed)
	wrong := values(page.Find(`form[action="/login"]`))
	wrong.Set("username", root.Username)
	wrong.Set("password", "wrong")
	page = g.post("/login", wrong)
	apptest.WantStatus(t, page, http.StatusUnauthorized)
	if got := g.login(page, "eve"); got.StatusCode != http.StatusSeeOther || strings.Contains(got.HTML, "long notes") {
		t.Errorf("another account: got %d", got.StatusCode)
	}
	if got := g.login(page, root.Username); got.StatusCode != http.StatusOK || !strings.Contains(got.HTML, "long notes") || strings.Contains(got.HTML, "p4ssw0rd") {
		t.Errorf("got %d, %s", got.StatusCode, got.HTML)
	}
	changed := values(page.Find(`form[action="/login"]`))
	changed.Set("username", root.Username)
	changed.Set("password", keptPassword)
	changed.Set("form", changed.Get("form")[4:])
	apptest.WantStatus(t, g.post("/login", changed), http.StatusSeeOther)
	g.Clock.Advance(2 * time.Hour)
	apptest.WantStatus(t, g.login(page, root.Username), http.StatusSeeOther)

	long := g.post(path, url.Values{"notes": {strings.Repeat("ä", 40<<10)}})
	apptest.WantStatus(t, long, http.StatusUnauthorized)
	apptest.WantText(t, long, ".field-error", "too long to be kept")
	apptest.WantCount(t, long, "input[name=form]", 0)
	apptest.WantStatus(t, g.post(path+"/delete", url.Values{"x": {"y"}}), http.StatusSeeOther)

	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(typed.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	apptest.WantStatus(t, g.Browse(r), http.StatusForbidden)
}
