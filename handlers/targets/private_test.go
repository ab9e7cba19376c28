package targets_test

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
	"linkwatch/models/targets"
)

// watchPrivately adds a target that only an account and admins see, and records a result.
func watchPrivately(s *apptest.App, address, name string) targets.Target {
	s.Helper()
	t, created, err := s.Targets.Add(s.Context(), targets.New{URL: address, Name: name, Private: true})
	if err != nil || !created {
		s.Fatal(created, err)
	}
	s.Record(t, foundDown)
	return t
}

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

// Every route of another account's private target returns 404 and changes nothing.
func TestPrivateTargetIsNotFound(t *testing.T) {
	s := apptest.New(t)
	alice, bob := s.As("alice"), s.As("bob")
	target := watchPrivately(bob, "https://bob.test/secret", "Bob's")
	state := func() string {
		return bob.Do("GET", "/v1/targets/"+target.ID, "").Body + fmt.Sprint(audited(s))
	}
	before, n := state(), 0
	for _, route := range s.Router.Routes() {
		if !strings.Contains(route.Path, "/watch/:id") && !strings.Contains(route.Path, "/v1/targets/:id") {
			continue
		}
		n++
		path := strings.Replace(route.Path, ":id", target.ID, 1)
		if strings.Contains(path, "/v1/") {
			var body string
			if route.Method == "PATCH" {
				body = `{"name":"mine","private":false}`
			}
			alice.Do(route.Method, path, body).Want(http.StatusNotFound)
			continue
		}
		r := httptest.NewRequest(route.Method, path, strings.NewReader("name=mine"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if p := alice.Browse(r); p.StatusCode != http.StatusNotFound || strings.Contains(p.HTML, "bob.test") {
			t.Errorf("%s %s: status %d: %s", route.Method, path, p.StatusCode, apptest.Text(p, "main"))
		}
	}
	if n < 14 {
		t.Errorf("only %d routes were tried", n)
	}
	if after := state(); after != before {
		t.Errorf("changed from %s\nto %s", before, after)
	}
	s.Must(s.Targets.Delete(bob.Context(), target.ID))
	alice.Do("POST", "/v1/targets/"+target.ID+"/restore", "").Want(http.StatusNotFound)
	apptest.WantStatus(t, alice.Post("/watch/"+target.ID+"/restore", nil), http.StatusNotFound)
	bob.Do("POST", "/v1/targets/"+target.ID+"/restore", "").Want(http.StatusOK)
}

// Pages and lists include a private target for its owner only.
func TestPrivateTargetIsNotListed(t *testing.T) {
	s := apptest.New(t)
	alice, bob := s.As("alice"), s.As("bob")
	shared := s.Watch("https://shared.test", "Shared", foundDown)
	target := watchPrivately(bob, "https://bob.test/secret", "Bobs")
	publish(bob, "both", "Both", shared, target)
	for _, path := range []string{
		"/", "/watch", "/watch?status=down", "/watch?q=bob", "/watch?host=bob.test", "/search?q=bob", "/status/both/edit", "/status/new", "/admin/checks",
		"/v1/targets", "/v1/targets?status=down", "/v1/checks", "/v1/checks?failed=true",
	} {
		for who, want := range map[*apptest.App]bool{alice: false, bob: true, s: true} {
			var body string
			if strings.HasPrefix(path, "/v1/") {
				body = who.Do("GET", path, "").Body
			} else {
				p := who.Get(path)
				apptest.WantStatus(t, p, http.StatusOK)
				p.Find("input[type=search]").SetAttr("value", "")
				body = p.HTML
			}
			if got := strings.Contains(body, target.ID); got != want {
				t.Errorf("%s: shows the target of bob: %v, want %v", path, got, want)
			}
		}
	}
	p := alice.Get("/watch")
	apptest.WantText(t, p, "#targets .choices", "all 1 down 1 pending 0")
	for _, path := range []string{"/watch?added=" + target.ID, "/watch?checked=" + target.ID} {
		if p := alice.Get(path); strings.Contains(p.HTML, "Bobs") {
			t.Errorf("%s names the target", path)
		}
	}
	if n := apptest.Items(alice.Do("GET", "/v1/status-pages", "").Want(200))[0]["target_count"]; n != 1.0 {
		t.Errorf("alice counts %v targets on the status page", n)
	}
	for _, path := range []string{"/status/both", "/status/both/feed"} { // what is published is public
		if p := alice.Get(path); !strings.Contains(p.HTML, "Bobs") {
			t.Errorf("%s does not show the target", path)
		}
	}
	if a := s.Request("GET", "/badge/"+target.ID+"/status.svg"); a.Status != http.StatusOK {
		t.Errorf("badge: %d", a.Status)
	}
	if metrics := s.Do("GET", "/metrics", "").Body; strings.Contains(metrics, target.ID) || !strings.Contains(metrics, shared.ID) {
		t.Error("the metrics are not those of shared targets")
	}
}

// The owner can make a target private or shared, on its page and in the API.
func TestPrivateByPageAndAPI(t *testing.T) {
	s := apptest.New(t)
	alice, bob := s.As("alice"), s.As("bob")

	p := bob.Get("/watch")
	if p.Find("#add input[name=private]").Length() != 1 {
		t.Error("the form has no field for private targets")
	}
	if s.Get("/watch").Find("input[name=private]").Length() != 0 {
		t.Error("the form has a field for private targets without accounts")
	}
	p = bob.Follow("/watch", url.Values{"url": {"https://page.test"}, "sharing": {"true"}, "private": {"true"}})
	if p.Find("#targets tbody tr .private").Length() != 1 {
		t.Error("the list does not mark the private target")
	}
	made := bob.Do("POST", "/v1/targets", `{"url":"https://api.test","private":true}`).Want(http.StatusCreated)
	apptest.Has(t, made, map[string]any{"owner": "bob", "private": true})
	if got := apptest.Items(alice.Do("GET", "/v1/targets", "").Want(200)); len(got) != 0 {
		t.Errorf("alice sees %v", got)
	}

	at := "/v1/targets/" + fmt.Sprint(made["id"])
	page := "/watch/" + fmt.Sprint(made["id"])
	apptest.WantText(t, bob.Get(page), ".facts", "Owner bob private")
	apptest.Has(t, bob.Do("PATCH", at, `{"private":false}`).Want(200), map[string]any{"owner": "bob", "private": false})
	alice.Do("PATCH", at, `{"private":true}`).Problem(http.StatusForbidden, "forbidden", "")
	p = alice.Get(page)
	if p.Find("#edit input[name=private]").Length() != 0 {
		t.Error("the form asks alice who sees the target of bob")
	}
	apptest.WantText(t, p, ".facts", "Owner bob")
	apptest.WantStatus(t, alice.Post(page, url.Values{"sharing": {"true"}, "private": {"true"}}), http.StatusForbidden)
	apptest.WantStatus(t, alice.Post(page, url.Values{"name": {"by alice"}}), http.StatusSeeOther)
	apptest.WantStatus(t, bob.Post(page, url.Values{"name": {"by bob"}, "sharing": {"true"}, "private": {"true"}}), http.StatusSeeOther)
	apptest.Has(t, bob.Do("GET", at, "").Want(200), map[string]any{"private": true, "name": "by bob"})
	bob.Post(page, url.Values{"name": {"by bob"}, "sharing": {"true"}})
	apptest.Has(t, bob.Do("GET", at, "").Want(200), map[string]any{"private": false})

	bob.Do("PATCH", at, `{"private":true}`).Want(200)
	apptest.Has(t, alice.Do("POST", "/v1/targets", `{"url":"https://api.test"}`).Want(http.StatusCreated), map[string]any{"owner": "alice", "private": false})
	bob.Do("PATCH", at, `{"private":false}`).Problem(http.StatusConflict, "conflict", "")
	apptest.WantStatus(t, bob.Post(page, url.Values{"sharing": {"true"}}), http.StatusConflict)

	for method, path := range map[string]string{"POST": "/v1/targets", "PATCH": at} {
		bob.Do(method, path, `{"url":"https://x.test","owner":"root"}`).Problem(http.StatusBadRequest, "invalid-request", "body")
	}
	bob.Do("POST", "/v1/targets", `{"url":"https://x.test","private":null}`).Problem(http.StatusBadRequest, "invalid-request", "private")
	bob.Do("PATCH", at, `{"private":null}`).Problem(http.StatusBadRequest, "invalid-request", "private")
	bob.Do("PATCH", at, `{"private":"yes"}`).Problem(http.StatusBadRequest, "invalid-request", "private")

	want := []string{
		"bob target.add", "bob target.add", "bob target.share", "alice target.edit", "bob target.edit", "bob target.unshare", "bob target.share",
		"bob target.unshare", "alice target.add",
	}
	if got := audited(s); !slices.Equal(got, want) {
		t.Errorf("audit log:\n%q, want\n%q", got, want)
	}
}

// An Idempotency-Key does not return targets of another account.
func TestIdempotencyKeyOfAnotherAccount(t *testing.T) {
	s := apptest.New(t)
	add := func(a *apptest.App, status int, body string) map[string]any {
		return a.Send("POST", "/v1/targets", "application/json", body, "Idempotency-Key", "same").Want(status)
	}
	bobs := add(s.As("bob"), http.StatusCreated, `{"url":"https://bob.test/secret","private":true}`)
	alices := add(s.As("alice"), http.StatusCreated, `{"url":"https://alice.test"}`)
	if bobs["id"] == alices["id"] || alices["url"] != "https://alice.test" {
		t.Errorf("%v", alices)
	}
	if again := add(s.As("bob"), http.StatusOK, `{"url":"https://other.test"}`); again["id"] != bobs["id"] {
		t.Errorf("%v", again)
	}
}

// An edit of a status page keeps private targets of other accounts and does not reveal them.
func TestStatusPageEditKeepsPrivateTargets(t *testing.T) {
	s := apptest.New(t)
	alice, bob := s.As("alice"), s.As("bob")
	a, b := s.Watch("https://a.test", "A"), s.Watch("https://b.test", "B")
	hidden := watchPrivately(bob, "https://hidden.test", "Hidden")
	page := publish(bob, "all", "All", a, hidden, b)
	at := "/v1/status-pages/" + page.ID

	apptest.Has(t, alice.Do("GET", at, "").Want(200), map[string]any{"targets": []string{a.ID, b.ID}, "target_count": 2})
	put := func(ids ...string) apptest.Response {
		return alice.Do("PUT", at, fmt.Sprintf(`{"slug":"all","title":"All","targets":["%s"]}`, strings.Join(ids, `","`)))
	}
	apptest.Has(t, put(b.ID, a.ID).Want(200), map[string]any{"targets": []string{b.ID, a.ID}, "target_count": 2})
	apptest.Has(t, bob.Do("GET", at, "").Want(200), map[string]any{"targets": []string{b.ID, hidden.ID, a.ID}})
	put(b.ID, hidden.ID).Problem(http.StatusBadRequest, "invalid-request", "targets[1]")
	alice.Do("POST", "/v1/status-pages", fmt.Sprintf(`{"slug":"x","title":"X","targets":["%s"]}`, hidden.ID)).Problem(http.StatusBadRequest, "invalid-request", "targets[0]")

	form := alice.Get("/status/all/edit")
	for _, text := range []string{hidden.ID, "Hidden", "hidden.test"} {
		if strings.Contains(form.HTML, text) {
			t.Errorf("the form has %q", text)
		}
	}
	apptest.WantStatus(t, alice.Post("/status/all/edit", url.Values{"title": {"All"}, "slug": {"all"}, "target": {a.ID}, "save": {"yes"}}), http.StatusSeeOther)
	apptest.Has(t, bob.Do("GET", at, "").Want(200), map[string]any{"targets": []string{a.ID, hidden.ID}})
	apptest.WantText(t, alice.Get("/status/all/delete"), "main", "Its 1 target ")
	if p := alice.Get("/status/all"); !strings.Contains(p.HTML, "Hidden") {
		t.Error("the public page lacks the private target")
	}
	if p := bob.Get("/status/all/edit"); p.Find("#choice-"+hidden.ID+" .private").Length() != 1 {
		t.Error("the form does not mark the private target")
	}
}
