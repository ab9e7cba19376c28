package links_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/links"
)

// dump returns all rows of links and tags as text.
func dump(a *apptest.App) string {
	a.Helper()
	var all []any
	for _, table := range []string{"links", "tags", "link_tags", "tag_scopes", "link_changes", "link_refreshes", "audit_entries"} {
		var rows []map[string]any
		a.Must(a.DB.Read(a.TB.Context()).Raw("SELECT * FROM " + table + " ORDER BY 1, 2").Scan(&rows).Error)
		all = append(all, rows)
	}
	return fmt.Sprint(all...)
}

// Every route with the id of a private link of bob returns 404 to alice and changes nothing.
func TestPrivateLinksDoNotExistForOthers(t *testing.T) {
	t.Parallel()
	a := apptest.New(t)
	alice, bob := a.As("alice"), a.As("bob")
	a.Web.Set("https://a.test/secret", links.Page{Status: 200, URL: "https://a.test/secret", Title: "Zebra"})
	l := bob.Do("POST", "/v1/links", `{"url": "https://a.test/secret", "tags": ["hushed"], "private": true}`).Want(201)
	apptest.Has(a.TB, l, map[string]any{"owner": "bob", "private": true})
	id, tag := l["id"].(string), bob.TagID("hushed")
	bob.Do("POST", "/v1/links", `{"url": "https://a.test/shared"}`).Want(201)
	change := bob.Do("POST", "/v1/links/bulk", `{"ids": ["`+id+`"], "action": "tag", "tags": ["more"]}`).Want(200)["id"].(string)
	refresh := bob.Do("POST", "/v1/links/bulk", `{"ids": ["`+id+`"], "action": "refresh"}`).Want(200)["id"].(string)
	before := dump(a)

	for _, call := range [][3]string{
		{"GET", "/v1/link/" + id, ""},
		{"HEAD", "/v1/link/" + id, ""},
		{"PUT", "/v1/link/" + id, ""},
		{"PATCH", "/v1/link/" + id, `{"expired": true}`},
		{"DELETE", "/v1/link/" + id, ""},
		{"PUT", "/v1/link/" + id + "/annotation", `{"title": "x"}`},
		{"PUT", "/v1/link/" + id + "/annotation", `{"private": false}`},
		{"POST", "/v1/link/" + id + "/move", ""},
		{"GET", "/v1/link/" + id + "/tags", ""},
		{"POST", "/v1/link/" + id + "/tags", `{"tags": ["x"]}`},
		{"GET", "/v1/link/" + id + "/tag/" + tag, ""},
		{"PUT", "/v1/link/" + id + "/tag/" + tag, `{"name": "x"}`},
		{"DELETE", "/v1/link/" + id + "/tag/" + tag, ""},
		{"GET", "/v1/tag/" + tag + "/links", ""},
		{"GET", "/v1/tag/" + tag + "/link/" + id, ""},
		{"POST", "/v1/changes/" + change + "/undo", ""},
		{"GET", "/v1/refreshes/" + refresh, ""},
	} {
		if got := alice.Do(call[0], call[1], call[2]); got.Status != http.StatusNotFound {
			wantProblem(a, got.Call, got.Status, got.Body)
		}
	}
	for _, path := range []string{"/links/" + id, "/links/refreshes/" + refresh} {
		if p := alice.Get(path); p.StatusCode != http.StatusNotFound {
			wantProblem(a, path, p.StatusCode, "")
		}
	}
	for path, form := range map[string]url.Values{
		"/links/" + id:                              {"title": {"x"}, "sharing": {"true"}},
		"/links/" + id + "/tags":                    {"tags": {"x"}},
		"/links/" + id + "/tags/" + tag + "/remove": {},
		"/links/" + id + "/refresh":                 {},
		"/links/" + id + "/move":                    {},
		"/changes/" + change + "/undo":              {},
		"/tags/" + tag:                              {"name": {"x"}},
	} {
		if p := alice.Post(path, form); p.StatusCode != http.StatusNotFound {
			wantProblem(a, "POST "+path, p.StatusCode, apptest.Text(p, "main"))
		}
	}
	// Actions by id skip it.
	for _, path := range []string{"/links/" + id + "/expired", "/links/" + id + "/delete"} {
		if p := alice.Post(path, nil); !strings.Contains(p.Header.Get("Location"), "done=unchanged") {
			wantProblem(a, "POST "+path, p.StatusCode, p.Header.Get("Location"))
		}
	}
	apptest.Has(a.TB, alice.Do("POST", "/v1/links/bulk", `{"ids": ["`+id+`"], "action": "delete"}`).Want(200), map[string]any{"links": 0, "id": nil})
	for _, path := range []string{
		"/v1/links", "/v1/links?expired=all", "/v1/popular", "/v1/recent", "/v1/search?q=zebra", "/v1/search?q=zebro", "/v1/search?q=tag:hushed", "/v1/tags", "/v1/tags?q=hus",
		"/v1/popular-tags", "/v1/recent-tags", "/v1/random", "/", "/links", "/links?sort=popular", "/links?q=zebra", "/v1/links?tag=hushed", "/links?change=" + change, "/links?saved=" + id,
		"/links/tags?tags=hus", "/links/random", "/tags", "/search?q=secret", "/search?q=zebra",
	} {
		body := alice.Request("GET", path, "Accept", "text/html").Body
		for _, word := range []string{"Zebra", id, "a.test/secret", tag, ">hushed<", `"hushed"`, "1 link tagged"} {
			if strings.Contains(body, word) {
				wantProblem(a, path, 0, "shows "+word)
			}
		}
	}
	if after := dump(a); after != before {
		a.Errorf("changed:\n%s\n%s", before, after)
	}

	// Adding its URL adds a new link and does not reveal that of bob.
	mine := alice.Do("POST", "/v1/links", `{"url": "https://a.test/secret"}`).Want(201)
	if mine["id"] == id || mine["private"] != false {
		a.Errorf("%v", mine)
	}
	alice.Do("POST", "/v1/links", `{"url": "https://a.test/secret", "private": true}`).Want(200)
	bob.Do("PUT", "/v1/link/"+id+"/annotation", `{"private": false}`).Problem(409, "conflict", "")
}

func wantProblem(a *apptest.App, call string, status int, text string) {
	a.Helper()
	a.Errorf("%s: status %d: %s", call, status, text)
}

// The user who adds a link is its owner and sets its visibility.
func TestOwnerAndPrivateByAPI(t *testing.T) {
	a := apptest.New(t)
	alice, bob := a.As("alice"), a.As("bob")
	alice.Do("POST", "/v1/links", `{"url": "https://a.test/1", "owner": "bob"}`).Problem(403, "forbidden", "")
	l := alice.Do("POST", "/v1/links", `{"url": "https://a.test/1", "owner": "alice"}`).Want(201)
	apptest.Has(t, l, map[string]any{"owner": "alice", "private": false})
	path := "/v1/link/" + l["id"].(string)
	bob.Do("PUT", path+"/annotation", `{"private": true}`).Problem(403, "forbidden", "")
	bob.Do("PUT", path+"/annotation", `{"private": false, "notes": "bob was here"}`).Want(200) // unchanged
	alice.Do("PUT", path+"/annotation", `{"private": null}`).Problem(400, "invalid-request", "private")
	alice.Do("PUT", path+"/annotation", `{"owner": "bob"}`).Problem(400, "invalid-request", "body")
	alice.Do("PATCH", path, `{"expired": false, "private": true}`).Problem(400, "invalid-request", "body")
	apptest.Has(t, alice.Do("PUT", path+"/annotation", `{"private": true}`).Want(200), map[string]any{"private": true, "notes": "bob was here", "owner": "alice"})
	bob.Do("GET", path, "").Problem(404, "not-found", "")
	alice.Do("GET", path, "").Want(200)

	// Without accounts, any owner is accepted, and the default is "system".
	apptest.Has(t, a.Do("POST", "/v1/links", `{"url": "https://a.test/2", "owner": "anybody"}`).Want(201), map[string]any{"owner": "anybody", "private": false})
	apptest.Has(t, a.Do("POST", "/v1/links", `{"url": "https://a.test/3"}`).Want(201), map[string]any{"owner": models.SystemOwner})
	a.Do("GET", path, "").Want(200)
}

func TestPrivateByPage(t *testing.T) {
	a := apptest.New(t)
	alice, bob := a.As("alice"), a.As("bob")
	apptest.WantCount(t, a.Get("/links"), "#add input[name=private]", 0)
	apptest.WantCount(t, alice.Get("/links"), "#add input[name=private]", 1)
	p := alice.Follow("/links", url.Values{"url": {"https://a.test/1"}, "sharing": {"true"}, "private": {"true"}})
	apptest.WantCount(t, p, ".row .private", 1)
	id, _ := p.Find(".row").Attr("id")
	p = alice.Get("/links/" + id)
	apptest.WantCount(t, p, ".link-title .private", 1)
	apptest.WantText(t, p, ".facts", "Owner alice private")
	apptest.WantCount(t, p, "#edit input[name=private][checked]", 1)

	// A form without the field changes nothing. A form with the unchecked field shares the link.
	alice.Follow("/links/"+id, url.Values{"title": {"Mine"}})
	apptest.WantStatus(t, bob.Get("/links/"+id), http.StatusNotFound)
	p = alice.Follow("/links/"+id, url.Values{"title": {"Mine"}, "sharing": {"true"}})
	apptest.WantCount(t, p, "main .private", 0)
	p = bob.Get("/links/" + id)
	apptest.WantText(t, p, ".facts", "Owner alice")
	apptest.WantCount(t, p, "#edit input[name=private]", 0) // only the owner can change it
	apptest.WantStatus(t, bob.Post("/links/"+id, url.Values{"sharing": {"true"}, "private": {"true"}}), http.StatusForbidden)

	// Notes for a private link are not added to a shared one.
	p = bob.Follow("/links", url.Values{"url": {"https://a.test/1"}, "tags": {"mine"}, "notes": {"my secret"}, "sharing": {"true"}, "private": {"true"}})
	apptest.WantText(t, p, ".flash.bad", "already saved as a shared link")
	if l, err := a.Links.Get(t.Context(), id); err != nil || l.Notes != "" || len(l.Tags) > 0 {
		t.Errorf("%+v, %v", l, err)
	}

	// If a link cannot be shared, the page shows the reason, and the form keeps its input.
	p = bob.Follow("/links", url.Values{"url": {"https://a.test/2"}, "sharing": {"true"}, "private": {"true"}})
	mine, _ := p.Find(".row .private").Closest(".row").Attr("id")
	alice.Follow("/links", url.Values{"url": {"https://a.test/2"}})
	p = bob.Post("/links/"+mine, url.Values{"title": {"typed"}, "sharing": {"true"}})
	apptest.WantStatus(t, p, http.StatusConflict)
	apptest.WantText(t, p, "#private-error", "A shared link with this URL exists already")
	apptest.WantCount(t, p, "details[open] input[value=typed]", 1)
}

func TestLinksAreAudited(t *testing.T) {
	t.Parallel()
	a := apptest.New(t)
	bob := a.As("bob")
	audited := func(want ...string) {
		a.Helper()
		var rows []struct{ Actor, Action, SubjectKind, SubjectName, Before, After string }
		a.Must(a.DB.Read(a.TB.Context()).Raw("SELECT * FROM audit_entries ORDER BY seq").Scan(&rows).Error)
		var got []string
		for _, r := range rows {
			got = append(got, strings.Join([]string{r.Actor, r.Action, r.SubjectKind, r.SubjectName, r.Before, r.After}, "|"))
		}
		if len(got) != len(want) {
			a.Fatalf("%d entries, want %d: %q", len(got), len(want), got)
		}
		for i := range want {
			if !strings.HasPrefix(got[i], want[i]) {
				a.Errorf("entry %d\n%s, want\n%s", i, got[i], want[i])
			}
		}
	}
	a.Web.Set("https://a.test/1", links.Page{Status: 200, URL: "https://a.test/1", Title: "One"})
	a.Web.Set("https://a.test/2", links.Page{Status: 200, URL: "https://a.test/2", Title: "Two"})
	one := bob.Do("POST", "/v1/links", `{"url": "https://a.test/1", "tags": ["x"], "private": true}`).Want(201)["id"].(string)
	path := "/v1/link/" + one
	bob.Do("POST", "/v1/links", `{"url": "https://a.test/1"}`).Want(200) // no change
	bob.Do("POST", "/v1/links", `{"url": "https://a.test/1", "tags": ["y"]}`).Want(200)
	bob.Do("PUT", path+"/annotation", `{"notes": "n", "private": false}`).Want(200)
	bob.Do("PUT", path+"/annotation", `{"notes": "n"}`).Want(200)
	bob.Do("GET", path, "").Want(200)
	bob.Do("PUT", path, "").Want(200)
	bob.Do("PATCH", path, `{"expired": true}`).Want(200)
	bob.Do("DELETE", path+"/tag/"+a.TagID("x"), "").Want(204)
	two := bob.Do("POST", "/v1/links", `{"url": "https://a.test/2"}`).Want(201)["id"].(string)
	bulk := func(action string) string {
		return bob.Do("POST", "/v1/links/bulk", `{"ids": ["`+one+`", "`+two+`"], "action": "`+action+`", "tags": ["z"]}`).Want(200)["id"].(string)
	}
	bulk("tag")
	bulk("refresh")
	change := bulk("delete")
	bob.Do("POST", "/v1/changes/"+change+"/undo", "").Want(200)
	bob.Post("/tags/"+a.TagID("z"), url.Values{"name": {"zz"}})
	bob.Post("/tags/"+a.TagID("zz"), url.Values{"name": {"y"}, "merge": {"yes"}})
	both := `{"count":2,"ids":["` + one + `","` + two + `"]`
	audited(
		`bob|link.add|link|One||{"notes":"","owner":"bob","private":true,"tags":["x"],"title":"","url":"https://a.test/1"}`,
		`bob|link.tag|link|One|{"tags":["x"]}|{"tags":["x","y"]}`,
		`bob|link.edit|link|One|{"notes":"","private":true}|{"notes":"n","private":false}`,
		`bob|link.refresh|link|One||`,
		`bob|link.expire|link|One|{"expired":false}|{"expired":true}`,
		`bob|link.untag|link|One|{"tags":["x","y"]}|{"tags":["y"]}`,
		`bob|link.add|link|Two||`,
		`bob|link.tag|link|||`+both+`,"tags":["z"]}`,
		`bob|link.refresh|link|||`+both+`}`,
		`bob|link.delete|link|||`+both+`}`,
		`bob|link.undo|link|||`+both+`,"undone":"delete"}`,
		`bob|tag.rename|tag|z|{"name":"z"}|{"name":"zz"}`,
		`bob|tag.merge|tag|zz|{"name":"zz"}|{"name":"y"}`,
	)
	bulk("refresh")
	refreshOne(a) // background jobs have no actor
	if _, err := a.Links.AddAll(bob.Context(), []links.New{{URL: "https://b.test/1"}, {URL: "https://b.test/2", Private: true}}); err != nil {
		a.Fatal(err)
	}
	var n int
	a.Must(a.DB.Read(a.TB.Context()).Raw("SELECT count(*) FROM audit_entries").Scan(&n).Error)
	if n != 15 {
		a.Errorf("%d entries", n)
	}
}
