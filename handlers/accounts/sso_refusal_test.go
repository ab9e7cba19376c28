package accounts_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models/accounts"
	"linkwatch/models/modelstest"
	"linkwatch/outbound/oidc"
	"linkwatch/outbound/oidc/standin"
)

// A refused sign-in is explained in the log and in the audit log: who it was, what the provider sent, and why.
func TestSingleSignOn_RefusalIsExplained(t *testing.T) {
	log := modelstest.NewLog(t)
	idp, s := newIssuer(t, apptest.Set("OIDC_DEFAULT_ROLE", "none"), func(o *apptest.Setup) { o.Log = slog.New(slog.NewTextHandler(log, nil)) })
	idp.Refreshes = true
	add(s, "root", accounts.Admin)
	disabled, err := store(s).Add(s.Context(), accounts.NewUser{Username: "dan", Role: accounts.Viewer, Issuer: idp.URL, Subject: "dan"})
	s.Must(err)
	_, err = store(s).Edit(s.Context(), disabled.ID, accounts.Edit{Disabled: new(true)})
	s.Must(err)
	many := make([]string, 0, 25)
	for i := range 25 {
		many = append(many, fmt.Sprintf("team-%d-%s", i, strings.Repeat("x", 200)))
	}
	user := func(subject, email string, groups ...string) standin.User {
		return standin.User{Subject: subject, Username: "Ann\u202e Example", Email: email, Verified: true, Claims: map[string]any{"groups": groups}}
	}
	for name, tc := range map[string]struct {
		user             standin.User
		page, log, audit string
	}{
		"no role": {
			user("a", "ann@example.com", "guests", "<b>"), "You have no role in Linkwatch. Ask an admin.",
			`msg="single sign-on refused" reason=no_role subject=a username=`,
			`oidc login.failed   {"reason":"no_role","role_claim":"groups","role_values":["guests","\u003cb\u003e"],"subject":"a","username":`,
		},
		"domain": {
			user("b", "ann@evil.example", "staff"), "Your email address is not allowed to sign in. Ask an admin.",
			`reason=domain subject=b username="Ann Example" email=ann@evil.example role_claim=groups role_values=[staff]`,
			`oidc login.failed   {"email":"ann@evil.example","reason":"domain"`,
		},
		"disabled": {user("dan", "ann@example.com", "staff"), "Your account is disabled. Ask an admin.", "reason=disabled subject=dan", `dan oidc login.failed dan  {"reason":"disabled"`},
		"many values": {
			user("c", "ann@example.com", many...), "You have no role in Linkwatch. Ask an admin.",
			"team-19-" + strings.Repeat("x", 80), `,"5 more"],"subject":"c"`,
		},
	} {
		idp.SetUser(tc.user)
		a := signIn(t, idp, newBrowser(s, "192.0.2.1"), "/")
		if a.Code != http.StatusForbidden || a.problem() != tc.page {
			t.Errorf("%s: got status %d, error %q", name, a.Code, a.problem())
		}
		if !strings.Contains(log.String(), tc.log) {
			t.Errorf("%s: the log has no %s:\n%s", name, tc.log, log.String())
		}
		if all := strings.Join(audited(s), "\n"); !strings.Contains(all, tc.audit) {
			t.Errorf("%s: the audit log has no %s:\n%s", name, tc.audit, all)
		}
	}
	for _, secret := range []string{"eyJ", "refresh_token", standin.ClientSecret} {
		if strings.Contains(log.String()+strings.Join(audited(s), "\n"), secret) {
			t.Errorf("the log or the audit log has %q", secret)
		}
	}
}

// The page says what helps. Signing in again does not if the clock or the issuer is wrong. The audit log has the
// reason.
func TestSingleSignOn_PageSaysWhatHelps(t *testing.T) {
	for fault, want := range map[standin.Fault]struct{ page, reason string }{
		standin.Expired:         {"Signing in again does not help. Ask an admin to correct them.", "clock"},
		standin.IssuedInFuture:  {"The clocks of this server and of the identity provider differ.", "clock"},
		standin.OtherIssuer:     {"Single sign-on is not configured correctly. Signing in again does not help.", "settings"},
		standin.WrongIssuer:     {"Ask an admin to check the server log.", "settings"},
		standin.BadClient:       {"Ask an admin to check the server log.", "settings"},
		standin.BrokenSignature: {"sent an invalid response. Ask an admin", "rejected"},
		standin.Denied:          {"ask the admin of the provider for access", "denied"},
		standin.WrongState:      {"started in another browser. Sign in again.", "expired"},
		standin.Overloaded:      {"unavailable. Try again in a minute.", "unavailable"},
	} {
		idp, s := newIssuer(t)
		idp.SetFaults(fault)
		if a := signIn(t, idp, newBrowser(s, "192.0.2.1"), "/"); !strings.Contains(a.problem(), want.page) {
			t.Errorf("%s: got %q", fault, a.problem())
		}
		wantAudited(s, ` oidc login.failed   {"reason":"`+want.reason+`"}`)
	}
}

// The troubleshooting table has every message that a user can see.
func TestSingleSignOn_MessagesAreDocumented(t *testing.T) {
	guide, err := os.ReadFile("../../docs/guide/access.md")
	if err != nil {
		t.Fatal(err)
	}
	messages := []string{
		"You have no role in Linkwatch.", "Your email address is not allowed to sign in.", "Your account is disabled.", "Your account was deleted.",
		"yours is the only admin account", "linkwatch user add NAME --role admin",
		"The identity provider must confirm your session.", "Another user has signed in at the identity provider.", "Your session must be checked, but the identity provider is unavailable.",
	}
	for _, text := range oidc.Texts() {
		first, _, _ := strings.Cut(text, ". ")
		messages = append(messages, first)
	}
	for _, text := range messages {
		if !strings.Contains(string(guide), text) {
			t.Errorf("docs/guide/access.md does not have %q", text)
		}
	}
}

// The role of an account that signs in at the provider is the provider's: the page and the API say so and refuse to
// change it.
func TestSingleSignOn_RoleOfProvider(t *testing.T) {
	idp, s := newIssuer(t)
	root := s.AddUser("root", accounts.Admin)
	signIn(t, idp, newBrowser(s, "192.0.2.1"), "/")
	u, err := store(s).ByName(s.Context(), "ann")
	s.Must(err)
	admin := s.SignIn(root)
	page := admin.Get("/settings/users/" + u.ID)
	apptest.WantText(t, page, "section:has(#role-title)", "This role comes from Example ID.")
	if page.Find("form[action$='/role']").Length() != 0 {
		t.Error("the page has a form for the role")
	}
	stale := admin.Post("/settings/users/"+u.ID+"/role", url.Values{"role": {"admin"}})
	apptest.WantStatus(t, stale, http.StatusConflict)
	apptest.WantText(t, stale, "#role-error", "The identity provider decides the role")
	refused := admin.Do("PATCH", "/v1/users/"+u.ID, `{"role": "admin"}`).Want(http.StatusConflict)
	if detail, _ := refused["detail"].(string); !strings.Contains(detail, "OIDC_ROLE_SYNC=first") {
		t.Errorf("got %v", refused)
	}
	same := admin.Do("PATCH", "/v1/users/"+u.ID, `{"role": "viewer", "disabled": false}`).Want(http.StatusOK)
	if same["origin"] != "oidc" || same["refused_at"] != nil {
		t.Errorf("got %v", same)
	}

	s.Must(store(s).Refuse(s.Context(), u, nil))
	page = admin.Get("/settings/users/" + u.ID)
	apptest.WantText(t, page, "section:has(#end-title)", "The identity provider refused this user.")
	if refused := admin.Do("GET", "/v1/users/"+u.ID, "").Want(http.StatusOK); refused["refused_at"] == nil {
		t.Errorf("got %v", refused)
	}
	apptest.WantStatus(t, admin.Post("/settings/users/"+u.ID+"/disabled", nil), http.StatusSeeOther) // Enable
	if u, err := store(s).Get(s.Context(), u.ID); err != nil || u.Blocked() {
		t.Errorf("enabled: got %+v, %v", u, err)
	}

	for name, change := range map[string]func(*apptest.Setup){
		"first":    apptest.Set("OIDC_ROLE_SYNC", "first"),
		"no claim": func(o *apptest.Setup) { o.Env["OIDC_ROLE_CLAIM"], o.Env["OIDC_ROLES"] = "", "" },
	} {
		idp, s := newIssuer(t, change)
		root := s.AddUser("root", accounts.Admin)
		idp.SetUser(ann("staff"))
		signIn(t, idp, newBrowser(s, "192.0.2.1"), "/")
		u, err := store(s).ByName(s.Context(), "ann")
		s.Must(err)
		admin := s.SignIn(root)
		if admin.Get("/settings/users/"+u.ID).Find("form[action$='/role']").Length() != 1 {
			t.Errorf("%s: the page has no form for the role", name)
		}
		admin.Do("PATCH", "/v1/users/"+u.ID, `{"role": "admin"}`).Want(http.StatusOK)
		signIn(t, idp, newBrowser(s, "192.0.2.1"), "/")
		if u, err := store(s).Get(s.Context(), u.ID); err != nil || u.Role != accounts.Admin {
			t.Errorf("%s: got %+v, %v", name, u, err)
		}
	}
}
