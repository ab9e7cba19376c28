package shortlinks_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models/audit"
	"linkwatch/models/shortlinks"
)

func isPrivate(n *shortlinks.New) { n.Private = true }

// audited returns the actions in the audit log, each with its actor.
func audited(s *apptest.App) (actions []string) {
	s.Helper()
	var all []audit.Entry
	s.Must(s.DB.Read(s.TB.Context()).Order("seq").Find(&all).Error)
	for _, e := range all {
		actions = append(actions, e.Actor+" "+e.Action)
	}
	return actions
}

// Every route of a private short link of another account returns 404 and changes nothing. Visitors
// are redirected.
func TestPrivateShortLinkIsNotFound(t *testing.T) {
	s := apptest.New(t)
	alice, bob := s.As("alice"), s.As("bob")
	bob.Shorten("https://bob.test/secret", "bobs", isPrivate)
	state := func() string {
		return bob.Do("GET", "/v1/shortlinks/bobs", "").Body + fmt.Sprint(audited(s))
	}
	before, n := state(), 0
	for _, route := range s.Router.Routes() {
		if !strings.Contains(route.Path, "/short/:key") && !strings.Contains(route.Path, "/v1/shortlinks/:key") {
			continue
		}
		n++
		path := strings.Replace(route.Path, ":key", "bobs", 1)
		if strings.Contains(path, "/v1/") {
			var body string
			if route.Method == "PATCH" {
				body = `{"title":"mine","private":false}`
			}
			alice.Do(route.Method, path, body).Want(http.StatusNotFound)
			continue
		}
		r := httptest.NewRequest(route.Method, path, strings.NewReader("long_url=https://mine.test"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if p := alice.Browse(r); p.StatusCode != http.StatusNotFound || strings.Contains(p.HTML, "bob.test") {
			t.Errorf("%s %s: got status %d: %s", route.Method, path, p.StatusCode, apptest.Text(p, "main"))
		}
	}
	if n < 12 {
		t.Errorf("got only %d routes", n)
	}
	if after := state(); after != before {
		t.Errorf("got a change from %s\nto %s", before, after)
	}
	if a := alice.Request("GET", "/s/bobs"); a.Status != http.StatusFound || a.Header.Get("Location") != "https://bob.test/secret" {
		t.Errorf("%d %v", a.Status, a.Header)
	}
	alice.Do("POST", "/v1/shortlinks", `{"long_url":"https://alice.test","short_key":"bobs"}`).Problem(http.StatusConflict, "conflict", "")
	s.Must(s.ShortLinks.Delete(bob.Context(), "bobs"))
	alice.Do("POST", "/v1/shortlinks/bobs/restore", "").Want(http.StatusNotFound)
	bob.Do("POST", "/v1/shortlinks/bobs/restore", "").Want(http.StatusOK)
}

// Lists and pages show a private short link only to its owner.
func TestPrivateShortLinkIsNotListed(t *testing.T) {
	s := apptest.New(t)
	alice, bob := s.As("alice"), s.As("bob")
	apptest.WantText(t, alice.Get("/short"), "#short-links .empty", "No short links yet")
	link := s.Save("https://bob.test/secret")
	bob.Shorten("https://bob.test/secret", "bobs-key", isPrivate)
	apptest.WantText(t, alice.Get("/short"), "#short-links .empty", "No short links yet")
	s.Shorten("https://shared.test", "shared")
	for _, path := range []string{
		"/", "/short", "/short?status=active", "/short?q=bobs", "/search?q=secret", "/short?made=bobs-key", "/links/" + link.ID, "/v1/shortlinks", "/v1/shortlinks?q=bob",
	} {
		for who, want := range map[*apptest.App]bool{alice: false, bob: true, s: !strings.HasPrefix(path, "/links/")} {
			var body string
			if strings.HasPrefix(path, "/v1/") {
				body = who.Do("GET", path, "").Body
			} else {
				p := who.Get(path)
				apptest.WantStatus(t, p, http.StatusOK)
				body = p.HTML
			}
			if got := strings.Contains(body, "bobs-key"); got != want {
				t.Errorf("%s: got the short link of bob: %v, want %v", path, got, want)
			}
		}
	}
}

// The owner sets the visibility of a short link by page and API.
func TestPrivateByPageAndAPI(t *testing.T) {
	s := apptest.New(t)
	alice, bob := s.As("alice"), s.As("bob")
	if s.Get("/short").Find("input[name=private]").Length() != 0 {
		t.Error("got the field private without accounts")
	}
	p := bob.Follow("/short", url.Values{"long_url": {"https://page.test"}, "short_key": {"page"}, "sharing": {"true"}, "private": {"true"}})
	if p.Find("#s-page .private").Length() != 1 {
		t.Error("the list does not mark the private short link")
	}
	made := bob.Do("POST", "/v1/shortlinks", `{"long_url":"https://api.test","short_key":"some","private":true}`).Want(http.StatusCreated)
	apptest.Has(t, made, map[string]any{"owner": "bob", "private": true})
	if got := apptest.Items(alice.Do("GET", "/v1/shortlinks", "").Want(200)); len(got) != 0 {
		t.Errorf("alice: got %v", got)
	}

	const at, page = "/v1/shortlinks/some", "/short/some"
	apptest.WantText(t, bob.Get(page), ".facts", "Owner bob private")
	apptest.Has(t, bob.Do("PATCH", at, `{"private":false}`).Want(200), map[string]any{"owner": "bob", "private": false})
	alice.Do("PATCH", at, `{"private":true}`).Problem(http.StatusForbidden, "forbidden", "")
	if alice.Get(page).Find("#edit input[name=private]").Length() != 0 {
		t.Error("alice: got the field private for the short link of bob")
	}
	edit := func(by *apptest.App, status int, more url.Values) {
		t.Helper()
		more.Set("long_url", "https://api.test")
		apptest.WantStatus(t, by.Post(page, more), status)
	}
	edit(alice, http.StatusForbidden, url.Values{"sharing": {"true"}, "private": {"true"}})
	edit(alice, http.StatusSeeOther, url.Values{"title": {"by alice"}})
	edit(bob, http.StatusSeeOther, url.Values{"title": {"by bob"}, "sharing": {"true"}, "private": {"true"}})
	apptest.Has(t, bob.Do("GET", at, "").Want(200), map[string]any{"private": true, "title": "by bob"})
	edit(bob, http.StatusSeeOther, url.Values{"title": {"by bob"}, "sharing": {"true"}})
	apptest.Has(t, bob.Do("GET", at, "").Want(200), map[string]any{"private": false})
	bob.Do("PATCH", at, `{"disabled":true}`).Want(200)

	bob.Do("POST", "/v1/shortlinks", `{"long_url":"https://x.test","owner":"root"}`).Problem(http.StatusBadRequest, "invalid-request", "body")
	bob.Do("PATCH", at, `{"owner":"root"}`).Problem(http.StatusBadRequest, "invalid-request", "body")
	bob.Do("POST", "/v1/shortlinks", `{"long_url":"https://x.test","private":null}`).Problem(http.StatusBadRequest, "invalid-request", "private")
	bob.Do("PATCH", at, `{"private":null}`).Problem(http.StatusBadRequest, "invalid-request", "private")

	want := []string{
		"bob short_link.add", "bob short_link.add", "bob short_link.share", "alice short_link.edit", "bob short_link.edit", "bob short_link.unshare",
		"bob short_link.share", "bob short_link.disable",
	}
	if got := audited(s); !slices.Equal(got, want) {
		t.Errorf("got audit log\n%q, want\n%q", got, want)
	}
}

// An Idempotency-Key of one account returns nothing to another account.
func TestIdempotencyKeyOfAnotherAccount(t *testing.T) {
	s := apptest.New(t)
	add := func(a *apptest.App, status int) map[string]any {
		return a.Send("POST", "/v1/shortlinks", "application/json", `{"long_url":"https://example.com","private":true}`, "Idempotency-Key", "same").Want(status)
	}
	bobs, alices := add(s.As("bob"), http.StatusCreated), add(s.As("alice"), http.StatusCreated)
	if bobs["short_key"] == alices["short_key"] || alices["owner"] != "alice" {
		t.Errorf("%v", alices)
	}
	if again := add(s.As("bob"), http.StatusOK); again["short_key"] != bobs["short_key"] {
		t.Errorf("%v", again)
	}
}
