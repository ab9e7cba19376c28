//go:build !race

package apitest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestCheck: Check finds responses that the document does not list.
func TestCheck(t *testing.T) {
	v, err := read("../openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	const page = `{"page":1,"per_page":30,"total_results":0,"total_is_lower_bound":false,"total_pages":0,"results":[]}`
	problem := func(slug, status string) string {
		return `{"type":"/probs/` + slug + `","title":"T","status":` + status + `,"detail":"D"}`
	}
	for _, c := range []struct {
		name, call  string
		status      int
		media, body string
		want        bool
	}{
		{"a list", "GET /v1/recent", 200, "application/json", page, true},
		{"of an alias", "GET /api/v1/recent", 200, "application/json", page, true},
		{"without a member", "GET /v1/recent", 200, "application/json", strings.Replace(page, `"total_is_lower_bound":false,`, "", 1), false},
		{"with another member", "GET /v1/recent", 200, "application/json", strings.Replace(page, `{`, `{"more":1,`, 1), false},
		{"with null", "GET /v1/recent", 200, "application/json", strings.Replace(page, `[]`, `null`, 1), false},
		{"of another media type", "GET /v1/recent", 200, "text/plain", page, false},
		{"with another status", "GET /v1/recent", 202, "application/json", page, false},
		{"a problem", "GET /v1/link/x", 404, "application/problem+json", problem("not-found", "404"), true},
		{"a problem of another type", "GET /v1/link/x", 404, "application/problem+json", problem("gone", "404"), false},
		{"a problem that is not listed", "GET /v1/recent", 404, "application/problem+json", problem("not-found", "404"), false},
		{"an operation that is not listed", "GET /v1/nothing", 200, "application/json", page, false},
		{"an unknown operation", "GET /v1/nothing", 404, "application/problem+json", problem("not-found", "404"), true},
		{"a bad request that succeeds", "GET /v1/recent?page=x", 200, "application/json", page, false},
	} {
		method, path, _ := strings.Cut(c.call, " ")
		rec := &recorder{ResponseWriter: httptest.NewRecorder(), status: http.StatusOK}
		rec.Header().Set("Content-Type", c.media)
		rec.Header().Set("X-Request-Id", "0123456789")
		rec.WriteHeader(c.status)
		if _, err := rec.Write([]byte(c.body)); err != nil {
			t.Fatal(err)
		}
		if found := check(v, httptest.NewRequest(method, path, nil), nil, rec); (found == "") != c.want {
			t.Errorf("%s: got valid %v, want %v: %s", c.name, !c.want, c.want, found)
		}
	}
}

func TestValid(t *testing.T) {
	for document, want := range map[string]bool{
		`{"openapi":"3.1.0","info":{"title":"T","version":"1","license":{"name":"MIT","identifier":"MIT"}},"paths":{}}`: true,
		`{"openapi":"3.0.3","info":{"title":"T","version":"1","license":{"name":"MIT"}},"paths":{}}`:                    true,
		`{"openapi":"3.0.3","info":{"title":"T","version":"1","license":{"name":"MIT","identifier":"MIT"}},"paths":{}}`: false,
		`{"openapi":"3.0.3","info":{"title":"T"},"paths":{}}`:                                                           false,
	} {
		if err := Valid([]byte(document)); (err == nil) != want {
			t.Errorf("%s: got %v", document, err)
		}
	}
}
