package handlers_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/handlers/middleware"
)

func get(r http.Handler, method, path string, headers ...string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, path, nil)
	req.Host = "127.0.0.1:8080"
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	return w
}

// TestEveryRouteIsInTheTable: the router serves exactly the routes of the table, and GET for the paths of forms (see returns).
func TestEveryRouteIsInTheTable(t *testing.T) {
	r := apptest.New(t)
	var table, served, forms []string
	for _, rt := range r.Router.Routes() {
		if rt.Needs < middleware.Public || rt.Needs > middleware.Admin {
			t.Errorf("%s %s has no role", rt.Method, rt.Path)
		}
		table = append(table, rt.Method+" "+rt.Path)
		isForm := rt.Method == "POST" && !middleware.IsAPI(rt.Path) && !rt.Machine
		if isForm && !slices.Contains(table, "GET "+rt.Path) {
			forms = append(forms, "GET "+rt.Path, "HEAD "+rt.Path)
		}
		if rt.Method == "GET" {
			table = append(table, "HEAD "+rt.Path)
		}
	}
	for _, rt := range r.Router.Engine().Routes() {
		served = append(served, rt.Method+" "+rt.Path)
	}
	table = append(table, forms...)
	slices.Sort(table)
	table = slices.Compact(table)
	slices.Sort(served)
	if !slices.Equal(table, served) {
		for _, s := range served {
			if !slices.Contains(table, s) {
				t.Errorf("served but not in the table: got %s", s)
			}
		}
		for _, s := range table {
			if !slices.Contains(served, s) {
				t.Errorf("in the table but not served: got %s", s)
			}
		}
	}
}

// TestDescribedRoutes: the OpenAPI document describes exactly the operations of /v1. Operations
// that need a role list 401.
func TestDescribedRoutes(t *testing.T) {
	var doc struct {
		Paths map[string]map[string]struct{ Responses map[string]any }
	}
	b, err := os.ReadFile("api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	routes := map[string]middleware.Route{}
	for _, rt := range apptest.New(t).Router.Routes() {
		path := regexp.MustCompile(`:(\w+)`).ReplaceAllString(rt.Path, "{$1}")
		routes[rt.Method+" "+path] = rt
		if rt.Method == "GET" {
			routes["HEAD "+path] = rt
		}
		if strings.HasPrefix(path, "/v1/") && doc.Paths[path][strings.ToLower(rt.Method)].Responses == nil {
			t.Errorf("%s %s is not described", rt.Method, path)
		}
	}
	for path, ops := range doc.Paths {
		for method, op := range ops {
			rt, ok := routes[strings.ToUpper(method)+" "+path]
			if !ok {
				t.Errorf("%s %s is not served", method, path)
			}
			if _, login := op.Responses["401"]; login != (rt.Needs != middleware.Public) {
				t.Errorf("%s %s: got 401 listed: %v", method, path, login)
			}
		}
	}
}

// TestPassword requests every route without a password, as a browser and as an API client.
func TestPassword(t *testing.T) {
	r := apptest.New(t, apptest.Set("ADMIN_PASSWORD", "correct horse"))
	for _, rt := range r.Router.Routes() {
		w := get(r.Handler, rt.Method, rt.Path)
		if rt.Needs == middleware.Public { // app/testdata/routes.txt lists the public routes
			if w.Code == http.StatusUnauthorized && rt.Path != "/login" {
				t.Errorf("%s %s requires a login", rt.Method, rt.Path)
			}
			continue
		}
		if strings.HasPrefix(rt.Path, "/v1/") || strings.HasPrefix(rt.Path, "/sse/") || rt.Machine {
			if w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") == "" || !strings.Contains(w.Body.String(), "/probs/unauthorized") {
				t.Errorf("%s %s: got %d, %s", rt.Method, rt.Path, w.Code, w.Body)
			}
		} else if w.Code != http.StatusSeeOther || !strings.HasPrefix(w.Header().Get("Location"), "/login") {
			t.Errorf("%s %s: got %d, %v", rt.Method, rt.Path, w.Code, w.Header())
		}
	}
	for _, c := range []struct {
		auth string
		want int
	}{
		{"Bearer correct horse", 200},
		{"bearer correct horse", 200},
		{"Bearer correct hors", 401},
		{"Bearer ", 401},
		{"Bearer", 401},
		{"correct horse", 401},
		{"Basic " + "YW55Ym9keTpjb3JyZWN0IGhvcnNl", 200}, // anybody:correct horse
		{"Basic " + "Y29ycmVjdCBob3JzZTphbnlib2R5", 401}, // correct horse:anybody
	} {
		if w := get(r.Handler, "GET", "/v1/links", "Authorization", c.auth); w.Code != c.want {
			t.Errorf("%q: got %d, want %d", c.auth, w.Code, c.want)
		}
	}
	for _, alias := range []string{"/api/v1/links", "/api/admin/cleanup/stats"} {
		if w := get(r.Handler, "GET", alias); w.Code != http.StatusUnauthorized {
			t.Errorf("%s without a password: got %d", alias, w.Code)
		}
	}
}

func TestHosts(t *testing.T) {
	r := apptest.New(t, apptest.Set("PUBLIC_URL", "https://links.example.org"), apptest.Set("HTTP_HOST", "192.0.2.7"))
	for host, want := range map[string]int{
		"localhost:8080": 200, "127.0.0.1": 200, "[::1]:8080": 200, "127.9.9.9:1": 200,
		"links.example.org": 200, "LINKS.example.org:443": 200, "192.0.2.7:8080": 200,
		"evil.test": 403, "evil.test:8080": 403, "192.0.2.8:8080": 403, "localhost.evil.test": 403, "": 403,
	} {
		w := get(r.Handler, "GET", "/v1/links", "Host", host)
		if w.Code != want {
			t.Errorf("Host %q: got %d, want %d", host, w.Code, want)
		}
		if want == 403 && (!strings.Contains(w.Body.String(), "/probs/forbidden") || strings.Contains(w.Body.String(), "evil")) {
			t.Errorf("Host %q: got %s", host, w.Body)
		}
	}
}

func TestCrossOrigin(t *testing.T) {
	r := apptest.New(t, apptest.Set("PUBLIC_URL", "https://links.example.org"))
	for _, c := range []struct {
		method, header, value string
		want                  int
	}{
		{"DELETE", "Sec-Fetch-Site", "cross-site", 403},
		{"DELETE", "Sec-Fetch-Site", "same-site", 403},
		{"DELETE", "Sec-Fetch-Site", "same-origin", 404},
		{"DELETE", "Origin", "https://evil.test", 403},
		{"DELETE", "Origin", "http://127.0.0.1:8080", 404},
		{"DELETE", "Origin", "https://links.example.org", 404},
		{"DELETE", "Accept", "*/*", 404}, // not a browser
		{"GET", "Sec-Fetch-Site", "cross-site", 404},
	} {
		if w := get(r.Handler, c.method, "/v1/link/x", c.header, c.value); w.Code != c.want {
			t.Errorf("%s with %s: %s: got %d, want %d", c.method, c.header, c.value, w.Code, c.want)
		}
	}
}

func TestHeaders(t *testing.T) {
	r := apptest.New(t)
	for _, path := range []string{"/v1/links", "/", "/v1/nothing", "/healthz"} {
		h := get(r.Handler, "GET", path).Header()
		if !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'self'") || h.Get("X-Content-Type-Options") != "nosniff" ||
			h.Get("Referrer-Policy") == "" || h.Get("X-Request-Id") == "" {
			t.Errorf("%s: got %v", path, h)
		}
	}
	if w := get(r.Handler, "GET", "/openapi.json", "Accept-Encoding", "gzip"); w.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("got an uncompressed long text: %v", w.Header())
	}
}

func TestRequestID(t *testing.T) {
	r := apptest.New(t)
	for given, kept := range map[string]bool{
		"0123456789abcdef-_": true, "short": false, "with a blank": false, "new\nline-0000": false,
		strings.Repeat("a", 65): false, "<script>alert(1)": false,
	} {
		got := get(r.Handler, "GET", "/healthz", "X-Request-Id", given).Header().Get("X-Request-Id")
		if (got == given) != kept || got == "" {
			t.Errorf("%q: got %q", given, got)
		}
	}
}

func TestDocs(t *testing.T) {
	r := apptest.New(t)
	for path, want := range map[string]string{
		"/apidoc":                      `src="/apidoc/swagger-ui-bundle.js"`,
		"/apidoc/":                     "swagger-ui",
		"/apidoc/swagger-ui-bundle.js": "SwaggerUIBundle",
		"/apidoc/swagger-ui.css":       ".swagger-ui",
	} {
		w := get(r.Handler, "GET", path)
		if w.Code != 200 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: got %d without %q", path, w.Code, want)
		}
		if strings.Contains(w.Body.String()[:min(3000, w.Body.Len())], "https://cdn") {
			t.Errorf("%s is loaded from another host", path)
		}
	}
}

// TestMetricsHaveNoInput: labels contain no input of clients.
func TestMetricsHaveNoInput(t *testing.T) {
	r := apptest.New(t)
	get(r.Handler, "GET", "/v1/link/canary")
	get(r.Handler, "GET", "/canary?canary=1")
	get(r.Handler, "CANARY", "/v1/links")
	body := get(r.Handler, "GET", "/metrics").Body.String()
	if strings.Contains(strings.ToLower(body), "canary") {
		t.Error("a label contains input of a client")
	}
	for _, want := range []string{
		`linkwatch_http_requests_total{method="GET",route="/v1/link/:id",status="404"} 1`,
		`linkwatch_http_requests_total{method="GET",route="unmatched",status="404"} 1`,
		`linkwatch_http_requests_total{method="other",route="unmatched",status="405"} 1`,
		"linkwatch_link_views_total 0",
		"linkwatch_http_requests_in_flight 1",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
}

func TestLogHasNoQuery(t *testing.T) {
	var log strings.Builder
	r := apptest.New(t, func(s *apptest.Setup) { s.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	id := get(r.Handler, "GET", "/v1/search?q=canary").Header().Get("X-Request-Id")
	get(r.Handler, "GET", "/healthz")
	if strings.Contains(log.String(), "canary") || strings.Contains(log.String(), "healthz") {
		t.Errorf("got log %s", log.String())
	}
	if !strings.Contains(log.String(), "request_id="+id) || !strings.Contains(log.String(), "path=/v1/search status=200") {
		t.Errorf("got log %s", log.String())
	}
}

func TestStopping(t *testing.T) {
	r := apptest.New(t)
	if w := get(r.Handler, "GET", "/readyz"); w.Code != 200 {
		t.Fatalf("got %d, %s", w.Code, w.Body)
	}
	if w := get(r.Handler, "GET", "/health"); w.Code != 200 || !strings.Contains(w.Body.String(), `"version":"v1.2.3"`) {
		t.Errorf("got %d, %s", w.Code, w.Body)
	}
	r.Health.Stopping()
	if w := get(r.Handler, "GET", "/readyz"); w.Code != 503 || !strings.Contains(w.Body.String(), "/probs/unavailable") {
		t.Errorf("got %d, %s", w.Code, w.Body)
	}
	if w := get(r.Handler, "GET", "/healthz"); w.Code != 200 {
		t.Errorf("got %d", w.Code)
	}
}

// TestProblemPage: errors are a page for browsers and JSON in the API.
func TestProblemPage(t *testing.T) {
	r := apptest.New(t)
	for path, want := range map[string]string{"/nothing": "text/html", "/v1/nothing": "application/problem+json"} {
		w := get(r.Handler, "GET", path, "Accept", "text/html")
		if w.Code != 404 || !strings.HasPrefix(w.Header().Get("Content-Type"), want) {
			t.Errorf("%s: got %d, %s", path, w.Code, w.Header().Get("Content-Type"))
		}
	}
}
