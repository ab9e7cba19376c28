package apptest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
)

// Response is a response with its whole body.
type Response struct {
	testing.TB
	Call   string // "GET /v1/links"
	Status int
	Header http.Header
	Body   string
}

// Do sends a request with a JSON body ("" = none).
func (a *App) Do(method, path, body string) Response {
	a.Helper()
	return a.Send(method, path, "application/json", body)
}

// Send sends a request with a body ("" = none). headers alternate names and values.
func (a *App) Send(method, path, contentType, body string, headers ...string) Response {
	a.Helper()
	if body != "" {
		headers = append([]string{"Content-Type", contentType}, headers...)
	}
	answer, err := a.exchange(a.Context(), http.DefaultClient, method, path, body, headers)
	if err != nil {
		a.Fatal(err)
	}
	if answer.Header.Get("X-Request-Id") == "" {
		a.Errorf("%s: no X-Request-Id", answer.Call)
	}
	if strings.Contains(answer.Body, "$schema") {
		a.Errorf("%s: the response contains $schema", answer.Call)
	}
	return answer
}

// Request sends a request without a body and does not follow redirects. headers alternate names
// and values; Host sets the requested host.
func (a *App) Request(method, path string, headers ...string) Response {
	a.Helper()
	answer, err := a.TryRequest(method, path, headers...)
	if err != nil {
		a.Fatal(err)
	}
	return answer
}

// TryRequest is like Request, but may be called from any goroutine.
func (a *App) TryRequest(method, path string, headers ...string) (Response, error) {
	return a.exchange(context.Background(), noFollow, method, path, "", headers)
}

func (a *App) exchange(ctx context.Context, client *http.Client, method, path, body string, headers []string) (Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, a.URL+path, strings.NewReader(body))
	if err != nil {
		return Response{}, err
	}
	if a.as != "" {
		req.Header.Set(actorHeader, a.as)
	}
	a.signIn(req)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	res, err := client.Do(req)
	if err != nil {
		return Response{}, err
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	return Response{a.TB, method + " " + path, res.StatusCode, res.Header, string(got)}, err
}

var noFollow = &http.Client{
	Transport:     &http.Transport{MaxIdleConnsPerHost: 100},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Want fails the test unless the response has the status. It returns the decoded JSON.
func (a Response) Want(status int) map[string]any {
	a.Helper()
	if a.Status != status {
		a.Fatalf("%s: status %d, want %d: %s", a.Call, a.Status, status, a.Body)
	}
	v := map[string]any{}
	if a.Body == "" {
		return v
	}
	if err := json.Unmarshal([]byte(a.Body), &v); err != nil {
		a.Fatalf("%s: %v: %s", a.Call, err, a.Body)
	}
	return v
}

// Problem fails the test unless the response is a complete problem with the status and slug.
// Unless location is "", the problem must have an error for it.
func (a Response) Problem(status int, slug, location string) map[string]any {
	a.Helper()
	p := a.Want(status)
	if got := a.Header.Get("Content-Type"); got != "application/problem+json" {
		a.Errorf("%s: Content-Type %q", a.Call, got)
	}
	if got, want := p["type"], "/probs/"+slug; got != want {
		a.Errorf("%s: type %q, want %q", a.Call, got, want)
	}
	if p["status"] != float64(status) || p["title"] == "" || p["detail"] == "" {
		a.Errorf("%s: incomplete problem: %s", a.Call, a.Body)
	}
	if location == "" {
		return p
	}
	errs, _ := p["errors"].([]any)
	for _, e := range errs {
		if e, _ := e.(map[string]any); e["location"] == location && e["message"] != "" {
			return p
		}
	}
	a.Errorf("%s: no error at %q: %s", a.Call, location, a.Body)
	return p
}

// WantToken fails the test unless a page token is base64 of a JSON object with the last item
// of its page.
func (a *App) WantToken(token string, createdAt time.Time, id string) {
	a.Helper()
	var cursor struct {
		CreatedAt time.Time `json:"created_at"`
		ID        string
	}
	b, err := base64.URLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(b, &cursor)
	}
	if err != nil || cursor.ID != id || !cursor.CreatedAt.Equal(createdAt) {
		a.Errorf("token %q: %+v %v", token, cursor, err)
	}
}

// Results returns the entries of a list of links or tags.
func Results(list map[string]any) []map[string]any { return Objects(list["results"]) }

// Items returns the entries of any other list.
func Items(list map[string]any) []map[string]any { return Objects(list["items"]) }

// Objects returns the objects of a JSON array, or none if array has another type.
func Objects(array any) []map[string]any {
	var out []map[string]any
	all, _ := array.([]any)
	for _, r := range all {
		m, _ := r.(map[string]any)
		out = append(out, m)
	}
	return out
}

// Column returns one member of each result or item, separated by spaces.
func Column(list map[string]any, member string) string {
	var out []string
	for _, r := range append(Results(list), Items(list)...) {
		out = append(out, fmt.Sprint(r[member]))
	}
	return strings.Join(out, " ")
}

// Has fails the test unless an object has these members. Others are allowed. Values are
// compared as JSON, so 1 equals 1.0.
func Has(t testing.TB, object, want map[string]any) {
	t.Helper()
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var decoded map[string]any
	if err := json.Unmarshal(b, &decoded); err != nil {
		t.Fatal(err)
	}
	for member, want := range decoded {
		if got, ok := object[member]; !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s = %v, want %v", member, got, want)
		}
	}
}
