package handlers_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/handlers/middleware"
)

// TestUnknownQueryParameters requests every route of the API with a query parameter that it does not know, and with one that
// is given twice. The problem names the allowed parameters, but not what the client sent.
func TestUnknownQueryParameters(t *testing.T) {
	r := apptest.New(t)
	var document struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name, In string }
		}
	}
	r.Must(json.Unmarshal(get(r.Handler, "GET", "/openapi.json").Body.Bytes(), &document))
	check := func(method, path, query, location, message string) {
		t.Helper()
		w := get(r.Router, method, path+"?"+query)
		var p middleware.Problem
		if method != http.MethodHead {
			r.Must(json.Unmarshal(w.Body.Bytes(), &p))
			if len(p.Errors) != 1 || p.Errors[0].Location != location || p.Errors[0].Message != message {
				t.Errorf("%s %s?%s: got %+v, want %s %s", method, path, query, p, location, message)
			}
		}
		if w.Code != http.StatusBadRequest || strings.Contains(w.Body.String(), "canary") {
			t.Errorf("%s %s?%s: got %d, %s", method, path, query, w.Code, w.Body)
		}
	}
	checked := 0
	for _, rt := range r.Router.Routes() {
		if !middleware.IsAPI(rt.Path) && !strings.HasPrefix(rt.Path, "/sse/") {
			continue
		}
		parts := strings.Split(rt.Path, "/")
		for i, p := range parts {
			if name, ok := strings.CutPrefix(p, ":"); ok {
				parts[i] = "{" + name + "}"
			}
		}
		var names []string
		op, ok := document.Paths[strings.Join(parts, "/")][strings.ToLower(rt.Method)]
		if !ok {
			t.Errorf("%s %s is not in the document", rt.Method, rt.Path)
		}
		for _, p := range op.Parameters {
			if p.In == "query" {
				names = append(names, p.Name)
			}
		}
		methods := []string{rt.Method}
		if rt.Method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
		for _, method := range methods {
			checked++
			sorted := slices.Sorted(slices.Values(names))
			allowed := "has an unknown parameter; none is allowed"
			if len(sorted) > 0 {
				allowed = "has an unknown parameter; allowed: " + strings.Join(sorted, ", ")
				check(method, rt.Path, names[0]+"=canary&"+names[0]+"=canary", "query."+names[0], "is given more than once")
			}
			check(method, rt.Path, "canary=canary", "query", allowed)
			check(method, rt.Path, "canary", "query", allowed)
			check(method, rt.Path, "a=%zzcanary", "query", "is not valid percent-encoding")
			if path, ok := strings.CutPrefix(rt.Path, "/v1"); ok {
				check(method, "/api/v1"+path, "canary=1", "query", allowed)
			}
		}
	}
	check("GET", "/api/admin/cleanup/stats", "canary=1", "query", "has an unknown parameter; none is allowed")
	if checked < 100 {
		t.Errorf("got only %d routes", checked)
	}
	for _, path := range []string{"/v1/links?", "/v1/links?page=&per_page=", "/v1/targets?limit=1&page_token=", "/links?canary=1", "/metrics?canary=1", "/healthz?canary=1"} {
		if w := get(r.Router, "GET", path); w.Code != http.StatusOK {
			t.Errorf("%s: got %d, %s", path, w.Code, w.Body)
		}
	}
}
