package handlers_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// canary stands for what a client may not see again: it may be a password.
const canary = "hunter2-canary"

// TestErrors goes through the table of contract §1: whatever is refused is a
// whole problem, and never shows what was sent.
func TestErrors(t *testing.T) {
	s := newServer(t)
	id := s.save("https://example.com", "Go")
	at := "/v1/link/" + id
	for _, c := range []struct {
		method, path, body string
		status             int
		slug, location     string
	}{
		{"POST", "/v1/links", `{"url":"` + canary, 400, "invalid-request", "body"},
		{"POST", "/v1/links", ``, 400, "invalid-request", "body"},
		{"POST", "/v1/links", `["` + canary + `"]`, 400, "invalid-request", "body"},
		{"POST", "/v1/links", `{"url":"https://x.test"} ` + canary, 400, "invalid-request", "body"},
		{"POST", "/v1/links", `{}`, 400, "invalid-request", "url"},
		{"POST", "/v1/links", `{"URL":"https://x.test"}`, 400, "invalid-request", "body"},
		{"POST", "/v1/links", `{"url":"https://x.test","url":"https://` + canary + `"}`, 400, "invalid-request", "body"},
		{"POST", "/v1/links", `{"url":"https://x.test","tags":["` + "\xff" + `"]}`, 400, "invalid-request", "body"},
		{"POST", "/v1/links", `{"url":"https://x.test","` + canary + `":1}`, 400, "invalid-request", "body"},
		{"POST", "/v1/links", `{"url":["` + canary + `"]}`, 400, "invalid-request", "url"},
		{"POST", "/v1/links", `{"url":null}`, 400, "invalid-request", "url"},
		{"POST", "/v1/links", `{"url":"ftp://` + canary + `"}`, 400, "invalid-request", "url"},
		{"POST", "/v1/links", `{"url":"https://user:` + canary + `@x.test"}`, 400, "invalid-request", "url"},
		{"POST", "/v1/links", `{"url":"https://x.test/` + strings.Repeat(canary, 200) + `"}`, 400, "invalid-request", "url"},
		{"POST", "/v1/links", `{"url":"https://x.test","tags":"` + canary + `"}`, 400, "invalid-request", "tags"},
		{"POST", "/v1/links", `{"url":"https://x.test","tags":["a",7]}`, 400, "invalid-request", "tags[1]"},
		{"POST", "/v1/links", `{"url":"https://x.test","tags":["a","` + strings.Repeat(canary, 9) + `"]}`, 400, "invalid-request", "tags[1]"},
		{"POST", "/v1/links", `{"url":"https://x.test","owner":"` + strings.Repeat(canary, 9) + `"}`, 400, "invalid-request", "owner"},
		{"PATCH", at, `{}`, 400, "invalid-request", "expired"},
		{"PATCH", at, `{"EXPIRED":true}`, 400, "invalid-request", "body"},
		{"PATCH", at, `{"expired":false,"Expired":true}`, 400, "invalid-request", "body"},
		{"PATCH", at, `{"expired":"` + canary + `"}`, 400, "invalid-request", "expired"},
		{"PATCH", at, `{"expired":null}`, 400, "invalid-request", "expired"},
		{"PATCH", at, `{"expired":false,"title":"` + canary + `"}`, 400, "invalid-request", "body"},
		{"PUT", at + "/annotation", `{"title":7}`, 400, "invalid-request", "title"},
		{"PUT", at + "/annotation", `{"title":"` + strings.Repeat(canary, 50) + `"}`, 400, "invalid-request", "title"},
		{"PUT", at + "/tag/" + s.tag("Go"), `{"name":""}`, 400, "invalid-request", "name"},
		{"POST", "/v1/links/bulk", `{"ids":[],"action":"` + canary + `"}`, 400, "invalid-request", "action"},
		{"POST", "/v1/links/bulk", `{"ids":["` + id + `"],"action":"tag"}`, 400, "invalid-request", "tags"},
		{"GET", "/v1/links?page=0", ``, 400, "invalid-request", "query.page"},
		{"GET", "/v1/links?page=-1", ``, 400, "invalid-request", "query.page"},
		{"GET", "/v1/links?page=" + canary, ``, 400, "invalid-request", "query.page"},
		{"GET", "/v1/links?page=99999999999999999999", ``, 400, "invalid-request", "query.page"},
		{"GET", "/v1/links?page=9999999999", ``, 400, "invalid-request", "query.page"},
		{"GET", "/v1/tags?per_page=0", ``, 400, "invalid-request", "query.per_page"},
		{"GET", "/v1/tags?per_page=1.5", ``, 400, "invalid-request", "query.per_page"},
		{"GET", "/v1/links?expired=" + canary, ``, 400, "invalid-request", "query.expired"},
		{"GET", "/v1/links?health=" + canary, ``, 400, "invalid-request", "query.health"},
		{"GET", "/v1/links?tag=%zz" + canary, ``, 400, "invalid-request", "query"},
		{"GET", "/v1/search?q=%22" + canary, ``, 400, "invalid-request", "query.q"},
		{"GET", "/v1/search?q=%00", ``, 400, "invalid-request", "query.q"},
		{"GET", "/v1/admin/jobs/x/runs?limit=501", ``, 400, "invalid-request", "query.limit"},
		{"GET", "/v1/admin/jobs/x/runs?page_token=" + canary, ``, 400, "invalid-request", "query.page_token"},
		{"GET", "/v1/link/" + canary, ``, 404, "not-found", ""},
		{"GET", "/v1/link/l_0000000000000000000000", ``, 404, "not-found", ""},
		{"GET", "/v1/" + canary, ``, 404, "not-found", ""},
		{"GET", "/v1/links/", ``, 404, "not-found", ""},
		{"GET", "/api/v1/" + canary, ``, 404, "not-found", ""},
		{"POST", "/v1/changes/" + canary + "/undo", ``, 404, "not-found", ""},
		{"GET", "/v1/refreshes/" + canary, ``, 404, "not-found", ""},
		{"POST", "/v1/admin/jobs/" + canary + "/run", ``, 404, "not-found", ""},
		{"GET", "/v1/admin/jobs/" + canary + "/runs", ``, 404, "not-found", ""},
		{"DELETE", "/v1/links", ``, 405, "method-not-allowed", ""},
		{"POST", "/v1/links", `{"url":"` + strings.Repeat("a", 1<<20) + `"}`, 413, "too-large", ""},
	} {
		a := s.do(c.method, c.path, c.body)
		a.problem(c.status, c.slug, c.location)
		if strings.Contains(a.body, canary) || strings.Contains(a.body, "Go struct") {
			t.Errorf("%s echoes what was sent: %s", a.call, a.body)
		}
	}
}

// TestManyMistakes: a body of nothing but mistakes gets an answer of a few.
func TestManyMistakes(t *testing.T) {
	s := newServer(t)
	members := make([]string, 50_000)
	for i := range members {
		members[i] = fmt.Sprintf(`"m%d":1`, i)
	}
	for _, body := range []string{
		`{"url":"https://a.test","tags":[` + strings.Repeat("1,", 400_000) + `1]}`,
		`{` + strings.Join(members, ",") + `}`,
	} {
		a := s.do("POST", "/v1/links", body)
		a.problem(400, "invalid-request", "")
		if len(a.body) > 4000 {
			t.Errorf("an answer of %d bytes", len(a.body))
		}
	}
}

func TestMethodNotAllowed(t *testing.T) {
	s := newServer(t)
	a := s.do("DELETE", "/v1/links", "")
	a.problem(405, "method-not-allowed", "")
	for _, m := range []string{"GET", "HEAD", "POST"} {
		if !strings.Contains(a.header.Get("Allow"), m) {
			t.Errorf("Allow %q lacks %s", a.header.Get("Allow"), m)
		}
	}
}

func TestMediaType(t *testing.T) {
	s := newServer(t)
	for _, ct := range []string{"text/plain", "application/x-www-form-urlencoded", "application/xml", canary} {
		a := s.send("POST", "/v1/links", ct, `{"url":"https://a.test"}`)
		a.problem(http.StatusUnsupportedMediaType, "unsupported-media-type", "")
		if strings.Contains(a.body, canary) {
			t.Errorf("the media type is echoed: %s", a.body)
		}
	}
	s.send("POST", "/v1/links", "application/json; charset=utf-8", `{"url":"https://a.test"}`).want(201)
	s.send("POST", "/v1/links", "Application/JSON", `{"url":"https://b.test"}`).want(201)
	s.send("POST", "/v1/links", "", `{"url":"https://c.test"}`).problem(http.StatusUnsupportedMediaType, "unsupported-media-type", "")
}

func TestBodyOfExactlyTheLimit(t *testing.T) {
	s := newServer(t)
	body := `{"url":"https://a.test"}`
	s.do("POST", "/v1/links", body+strings.Repeat(" ", 1<<20-len(body))).want(201)
}

// TestDatabaseDown closes the store under the server.
func TestDatabaseDown(t *testing.T) {
	s := newServer(t)
	s.do("GET", "/readyz", "").want(200)
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}
	a := s.do("GET", "/v1/links", "")
	p := a.problem(500, "internal", "")
	if strings.Contains(a.body, "sql") || !strings.Contains(p["detail"].(string), a.header.Get("X-Request-Id")) {
		t.Errorf("got %s", a.body)
	}
	s.do("GET", "/readyz", "").problem(503, "unavailable", "")
	s.do("GET", "/healthz", "").want(200)
	if h := s.do("GET", "/health", "").want(503); h["status"] != "degraded" {
		t.Errorf("got %v", h)
	}
}

// TestClientGone: a request that nobody waits for is no error of the server.
func TestClientGone(t *testing.T) {
	s := newServer(t)
	entered, done := make(chan struct{}), make(chan struct{})
	s.web.set("https://slow.test", func(ctx context.Context) {
		close(entered)
		<-ctx.Done()
		close(done)
	})
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", s.url+"/v1/links", strings.NewReader(`{"url":"https://slow.test"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	go func() {
		<-entered
		cancel()
	}()
	if res, err := http.DefaultClient.Do(req); err == nil {
		res.Body.Close()
		t.Fatal("the request was answered")
	}
	<-done
	if n := s.do("GET", "/v1/links?expired=all", "").want(200)["total_results"]; n != 0.0 {
		t.Errorf("%v links were stored", n)
	}
}
