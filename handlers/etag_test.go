package handlers_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/handlers/middleware"
	"linkwatch/models/accounts"
	"linkwatch/models/targets"
)

var strongTag = regexp.MustCompile(`^"[A-Za-z0-9_-]{20}"$`)

// everyItem returns an admin with an item of each kind.
func everyItem(a *apptest.App) (admin *apptest.App, b *belongings) {
	a.Helper()
	u := a.AddUser("root", accounts.Admin)
	b = addAll(a, u, "wombat", false)
	admin = a.SignIn(u)
	add := func(kind, path, body string) {
		a.Helper()
		b.ids[kind] = admin.Do("POST", path, body).Want(201)["id"].(string)
	}
	add("maintenance", "/v1/maintenance", `{"name":"Night","targets":["`+b.ids["target"]+`"],"starts_at":"2026-01-01T00:00:00Z","ends_at":"2026-01-01T02:00:00Z"}`)
	add("status page", "/v1/status-pages", `{"slug":"shop","title":"Shop","targets":["`+b.ids["target"]+`"]}`)
	add("token", "/v1/tokens", `{"name":"phone","scopes":["read"]}`)
	add("user", "/v1/users", `{"username":"vera","role":"viewer","password":"a long password"}`)
	return admin, b
}

// etagPath is pathOf, also for the items of everyItem.
func etagPath(b *belongings, path string) string {
	for prefix, id := range map[string]string{"/v1/tokens/:id": b.ids["token"], "/v1/users/:id": b.ids["user"]} {
		if rest, ok := strings.CutPrefix(path, prefix); ok {
			return strings.TrimSuffix(prefix, ":id") + id + rest
		}
	}
	return b.pathOf(path)
}

// TestETagOfEveryItem: every GET of one item has a strong ETag, and every request that changes the item is 412 with another
// ETag in If-Match. The problem has the item as its GET returns it, and nothing changes.
func TestETagOfEveryItem(t *testing.T) {
	a := apptest.New(t)
	admin, b := everyItem(a)
	got := map[string]map[string]any{} // items by the path of the route
	for _, r := range a.Router.Routes() {
		p := etagPath(b, r.Path)
		if r.Method != http.MethodGet || !middleware.IsAPI(r.Path) || p == "" || r.Stream {
			continue
		}
		isItem := strings.Contains(r.Path[strings.LastIndex(r.Path, "/"):], ":")
		res := admin.Request("GET", p)
		if tag := res.Header.Get("ETag"); isItem && !strongTag.MatchString(tag) || tag != "" && strings.Contains(res.Body, `"next_page_token"`) {
			t.Errorf("GET %s: got %d, ETag %q", r.Path, res.Status, tag)
		}
		if isItem {
			got[r.Path] = res.Want(200)
		}
	}
	checked := 0
	for _, r := range a.Router.Routes() {
		if r.Method == http.MethodGet || !middleware.IsAPI(r.Path) {
			continue
		}
		at := r.Path
		for at != "" && got[at] == nil {
			at = at[:strings.LastIndex(at, "/")]
		}
		if at == "" {
			continue
		}
		checked++
		p := admin.Send(r.Method, etagPath(b, r.Path), "application/json", "{}", "If-Match", `"stale"`).Problem(412, "precondition-failed", "")
		current, _ := p["current"].(map[string]any)
		if len(current) != len(got[at]) || current["id"] != got[at]["id"] || current["url"] != got[at]["url"] {
			t.Errorf("%s %s: got current %v, want %v", r.Method, r.Path, current, got[at])
		}
	}
	if checked < 60 {
		t.Errorf("got %d requests that change items", checked)
	}
}

// edits are requests that change an item of each kind that can be edited, with a different value each.
var edits = []struct{ method, path, body string }{
	{"PUT", "/v1/link/:id/annotation", `{"notes":"notes %d"}`},
	{"POST", "/v1/link/:id/tags", `{"tags":["new-%d"]}`},
	{"PATCH", "/v1/tag/:tag_id", `{"name":"renamed-%d"}`},
	{"PATCH", "/v1/targets/:id", `{"name":"name %d"}`},
	{"PUT", "/v1/status-pages/:id", `{"slug":"shop","title":"Shop %d","targets":[]}`},
	{"PATCH", "/v1/shortlinks/:key", `{"title":"title %d"}`},
	{"PATCH", "/v1/sources/:id", `{"name":"name %d"}`},
	{"PUT", "/v1/jobs/:id", `{"metadata":{"n":%d}}`},
	{"PATCH", "/v1/websites/:id", `{"name":"name %d"}`},
	{"PATCH", "/v1/pages/:id", `{"manual_priority":%d}`},
	{"PATCH", "/v1/channels/:id", `{"name":"name %d"}`},
	{"PATCH", "/v1/alert-rules/:id", `{"name":"name %d"}`},
	{"PATCH", "/v1/maintenance/:id", `{"name":"name %d"}`},
}

// TestOneOfManyEditsWins: of many requests at once with the same ETag, one changes the item and the others are 412. The ETag
// of the response holds for the next request.
func TestOneOfManyEditsWins(t *testing.T) {
	apptest.EachEngine(t, func(a *apptest.App) {
		admin, b := everyItem(a)
		for _, e := range edits {
			item := e.path
			for strings.Count(item, "/") > 3 {
				item = item[:strings.LastIndex(item, "/")]
			}
			tag := admin.Request("GET", etagPath(b, item)).Header.Get("ETag")
			var wait sync.WaitGroup
			answers := make([]apptest.Response, 4)
			for i := range answers {
				wait.Go(func() {
					answers[i] = admin.Send(e.method, etagPath(b, e.path), "application/json", fmt.Sprintf(e.body, i+1), "If-Match", tag)
				})
			}
			wait.Wait()
			statuses := map[int]int{}
			var won apptest.Response
			for _, r := range answers {
				if statuses[r.Status]++; r.Status == 200 {
					won = r
				}
			}
			if statuses[200] != 1 || statuses[412] != len(answers)-1 {
				t.Errorf("%s %s: got %v, %s", e.method, e.path, statuses, answers[0].Body)
				continue
			}
			next := won.Header.Get("ETag")
			if next == tag || !strongTag.MatchString(next) || next != admin.Request("GET", etagPath(b, item)).Header.Get("ETag") {
				t.Errorf("%s %s: got ETag %q after %q", e.method, e.path, next, tag)
			}
			admin.Send(e.method, etagPath(b, e.path), "application/json", fmt.Sprintf(e.body, 9), "If-Match", next).Want(200)
		}
	})
}

// The header If-Match is a list of tags or *. Weak tags never match. Without it, the last change wins.
func TestIfMatch(t *testing.T) {
	a := apptest.New(t)
	tg := a.Do("POST", "/v1/targets", `{"url":"https://shop.test/"}`)
	path, tag := "/v1/targets/"+tg.Want(201)["id"].(string), tg.Header.Get("ETag")
	if !strongTag.MatchString(tag) {
		t.Fatalf("got ETag %q", tag)
	}
	for given, want := range map[string]int{
		tag: 200, "*": 200, ` "other" ,` + tag: 200, `"other", "more"`: 412, "W/" + tag: 412, `W/"x", ` + tag: 200,
		"bare": 400, `"open`: 400, `"a" "b"`: 400, "*, " + tag: 400,
	} {
		// no change, so that the ETag stays
		if got := a.Send("PATCH", path, "application/json", `{"name":""}`, "If-Match", given); got.Status != want {
			t.Errorf("%s: got %d, %s, want %d", given, got.Status, got.Body, want)
		}
	}
	a.Send("PATCH", path, "application/json", `{"name":"A"}`, "If-Match", tag).Want(200)
	a.Do("PATCH", path, `{"name":"B"}`).Want(200)
	a.Send("PATCH", "/v1/targets/t_0000000000000000000000", "application/json", `{"name":"A"}`, "If-Match", tag).Problem(404, "not-found", "")
	a.Send("DELETE", path, "", "", "If-Match", tag).Problem(412, "precondition-failed", "")
	if got := a.Send("DELETE", path, "", "", "If-Match", a.Request("GET", path).Header.Get("ETag")); got.Status != 204 {
		t.Errorf("got %d, %s", got.Status, got.Body)
	}
}

// An ETag does not change with views, checks and visits.
func TestETagIsOfWhatUsersEdit(t *testing.T) {
	a := apptest.New(t)
	b := owner(a, accounts.User{Username: "system"}, "wombat", false)
	b.link()
	b.target()
	b.shortLink()
	before := map[string]string{}
	paths := []string{"/v1/link/" + b.ids["link"], "/v1/targets/" + b.ids["target"], "/v1/shortlinks/" + b.ids["short link"]}
	for _, p := range paths {
		before[p] = a.Request("GET", p).Header.Get("ETag")
	}
	a.Clock.Advance(time.Minute)
	a.Must(a.Targets.RequestCheck(a.TB.Context(), b.ids["target"]))
	a.Finish(b.ids["target"], targets.Checked{Result: targets.Result{Outcome: targets.UpOutcome, StatusCode: 200, LatencyMS: 7}})
	a.Request("GET", "/s/"+b.ids["short link"])
	for _, p := range paths {
		if got := a.Request("GET", p).Header.Get("ETag"); got != before[p] || got == "" {
			t.Errorf("%s: got ETag %q, then %q", p, before[p], got)
		}
	}
}
