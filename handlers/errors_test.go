package handlers_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"linkwatch/app/apptest"
)

// canary is an input that responses must not repeat, because it could be a password.
const canary = "hunter2-canary"

// TestErrors: every error is a complete problem that does not repeat the input.
func TestErrors(t *testing.T) {
	s := apptest.New(t)
	id := s.Save("https://example.com", "Go").ID
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
		{"PUT", at + "/tag/" + s.TagID("Go"), `{"name":""}`, 400, "invalid-request", "name"},
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
		a := s.Do(c.method, c.path, c.body)
		a.Problem(c.status, c.slug, c.location)
		if strings.Contains(a.Body, canary) || strings.Contains(a.Body, "Go struct") {
			t.Errorf("%s repeats the input: got %s", a.Call, a.Body)
		}
	}
}

// TestManyMistakes: a body with many errors gets a short response.
func TestManyMistakes(t *testing.T) {
	s := apptest.New(t)
	members := make([]string, 50_000)
	for i := range members {
		members[i] = fmt.Sprintf(`"m%d":1`, i)
	}
	for _, body := range []string{
		`{"url":"https://a.test","tags":[` + strings.Repeat("1,", 400_000) + `1]}`,
		`{` + strings.Join(members, ",") + `}`,
	} {
		a := s.Do("POST", "/v1/links", body)
		a.Problem(400, "invalid-request", "")
		if len(a.Body) > 4000 {
			t.Errorf("got a response of %d bytes", len(a.Body))
		}
	}
}

func TestMethodNotAllowed(t *testing.T) {
	s := apptest.New(t)
	a := s.Do("DELETE", "/v1/links", "")
	a.Problem(405, "method-not-allowed", "")
	for _, m := range []string{"GET", "HEAD", "POST"} {
		if !strings.Contains(a.Header.Get("Allow"), m) {
			t.Errorf("got Allow %q without %s", a.Header.Get("Allow"), m)
		}
	}
}

func TestMediaType(t *testing.T) {
	s := apptest.New(t)
	for _, ct := range []string{"text/plain", "application/x-www-form-urlencoded", "application/xml", canary} {
		a := s.Send("POST", "/v1/links", ct, `{"url":"https://a.test"}`)
		a.Problem(http.StatusUnsupportedMediaType, "unsupported-media-type", "")
		if strings.Contains(a.Body, canary) {
			t.Errorf("the response repeats the media type: got %s", a.Body)
		}
	}
	s.Send("POST", "/v1/links", "application/json; charset=utf-8", `{"url":"https://a.test"}`).Want(201)
	s.Send("POST", "/v1/links", "Application/JSON", `{"url":"https://b.test"}`).Want(201)
	s.Send("POST", "/v1/links", "", `{"url":"https://c.test"}`).Problem(http.StatusUnsupportedMediaType, "unsupported-media-type", "")
}

func TestBodyOfExactlyTheLimit(t *testing.T) {
	s := apptest.New(t)
	body := `{"url":"https://a.test"}`
	s.Do("POST", "/v1/links", body+strings.Repeat(" ", 1<<20-len(body))).Want(201)
}

// TestDatabaseDown closes the store under the server.
func TestDatabaseDown(t *testing.T) {
	s := apptest.New(t)
	s.Do("GET", "/readyz", "").Want(200)
	if err := s.DB.Close(); err != nil {
		t.Fatal(err)
	}
	a := s.Do("GET", "/v1/links", "")
	p := a.Problem(500, "internal", "")
	if strings.Contains(a.Body, "sql") || !strings.Contains(p["detail"].(string), a.Header.Get("X-Request-Id")) {
		t.Errorf("got %s", a.Body)
	}
	s.Do("GET", "/readyz", "").Problem(503, "unavailable", "")
	s.Do("GET", "/healthz", "").Want(200)
	if h := s.Do("GET", "/health", "").Want(503); h["status"] != "degraded" {
		t.Errorf("got %v", h)
	}
}

// TestClientGone: a disconnected client is not an error of the server.
func TestClientGone(t *testing.T) {
	t.Parallel() // it waits for the time limit of a fetch without requests
	s := apptest.New(t)
	entered, done := make(chan struct{}), make(chan struct{})
	s.Web.Set("https://slow.test", func(ctx context.Context) {
		close(entered)
		<-ctx.Done()
		close(done)
	})
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", s.URL+"/v1/links", strings.NewReader(`{"url":"https://slow.test"}`))
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
		t.Fatal("got a response")
	}
	<-done
	if n := s.Do("GET", "/v1/links?expired=all", "").Want(200)["total_results"]; n != 0.0 {
		t.Errorf("got %v stored links", n)
	}
}
