package handlers_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"linkwatch/app/apptest"
	"linkwatch/demo"
	"linkwatch/handlers/middleware"
)

const subpath = "/linkwatch"

func newBelow(t *testing.T, change ...func(*apptest.Setup)) *apptest.App {
	t.Helper()
	return apptest.New(t, append(change, apptest.Set("PUBLIC_URL", "https://tools.example"+subpath+"/"), apptest.Set("SHORT_HOST", "go.example"))...)
}

// addDemo adds the sample data of all systems.
func addDemo(t *testing.T, s *apptest.App) {
	t.Helper()
	run := &demo.Run{DB: s.DB, Now: s.Clock.Now(), Links: 20}
	for _, system := range s.Systems.All() {
		if system.Demo != nil {
			_, err := system.Demo(t.Context(), run)
			s.Must(err)
		}
	}
}

// TestEveryPageBelowAPath follows the links of all pages. All URLs of pages, parts of pages and redirects are below the
// path of PUBLIC_URL, whether a proxy removes the path from requests or not.
func TestEveryPageBelowAPath(t *testing.T) {
	s := newBelow(t)
	addDemo(t, s)
	queue, ofRoute, pages := []string{subpath + "/"}, map[string]int{}, 0
	for _, rt := range s.Router.Routes() {
		if rt.Method == http.MethodGet && !strings.ContainsAny(rt.Path, ":*") && !rt.Stream {
			queue = append(queue, subpath+rt.Path)
		}
	}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		route := routeOf(s, at)
		if ofRoute[route]++; ofRoute[route] > 4 {
			continue
		}
		for i, htmx := range []string{"", "true"} {
			sent := at
			if (ofRoute[route]+i)%2 == 0 {
				sent = strings.TrimPrefix(at, subpath)
			}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, sent, nil)
			r.Header.Set("HX-Request", htmx)
			p := s.Browse(r)
			for _, header := range []string{"Location", "HX-Replace-Url"} {
				if to := p.Header.Get(header); to != "" && !isBelow(to) && route != "/s/:key" {
					t.Errorf("%s: %s %q", sent, header, to)
				}
			}
			if !strings.HasPrefix(p.Header.Get("Content-Type"), "text/html") {
				continue
			}
			pages++
			queue = append(queue, linksOf(t, sent, p)...)
		}
	}
	if pages < 150 {
		t.Errorf("got only %d pages", pages)
	}
}

// routeOf returns the route of a URL.
func routeOf(s *apptest.App, address string) string {
	u, err := url.Parse(address)
	s.Must(err)
	path := strings.TrimPrefix(u.Path, subpath)
	segments := strings.Split(path, "/")
	fits := func(want, got string) bool { return want == got || strings.HasPrefix(want, ":") }
	for _, rt := range s.Router.Routes() {
		if slices.EqualFunc(strings.Split(rt.Path, "/"), segments, fits) {
			return rt.Path
		}
	}
	return path
}

func isBelow(address string) bool { return strings.HasPrefix(address, subpath+"/") }

// linksOf returns the local URLs of a page. All attributes but values of fields must be below the path.
func linksOf(t *testing.T, where string, p apptest.Page) (links []string) {
	t.Helper()
	p.Find("*").Each(func(_ int, el *goquery.Selection) {
		for _, a := range el.Nodes[0].Attr {
			if own := strings.Count(a.Val, "https://tools.example"); own != strings.Count(a.Val, "https://tools.example"+subpath+"/") {
				t.Errorf("%s: %s of <%s>: %q", where, a.Key, goquery.NodeName(el), a.Val)
			}
			if !strings.HasPrefix(a.Val, "/") || a.Key == "value" || a.Key == "placeholder" {
				continue
			}
			if !isBelow(a.Val) || strings.Contains(a.Val, subpath+subpath) {
				t.Errorf("%s: %s of <%s>: %q", where, a.Key, goquery.NodeName(el), a.Val)
			}
			if a.Key == "href" || a.Key == "src" || a.Key == "hx-get" {
				to, _, _ := strings.Cut(a.Val, "#")
				links = append(links, to)
			}
		}
	})
	return links
}

// A path may be there or not. It is there only as whole segments.
func TestPathsOfRequestsBelowAPath(t *testing.T) {
	s := newBelow(t)
	for path, want := range map[string]int{
		"/linkwatch": 200, "/linkwatch/": 200, "/linkwatch/links": 200, "/links": 200, "/linkwatch/readyz": 200, "/readyz": 200, "/healthz": 200,
		"/linkwatch/api/v1/links": 200, "/api/v1/links": 200, "/linkwatch/static/x/app.css": 200, "/linkwatch/apidoc/swagger-ui.css": 200,
		"/linkwatchx": 404, "/linkwatchlinks": 404, "/linkwatch/linkwatch/links": 404, "/linkwatch//links": 404, "/Linkwatch/links": 404,
		"/other/links":       404,
		"/linkwatch/nothing": 404, "/%6cinkwatch/links": 404,
	} {
		if w := get(s.Handler, "GET", path, "Accept", "text/html"); w.Code != want {
			t.Errorf("%s: got %d, want %d", path, w.Code, want)
		}
	}
	for path, to := range map[string]string{
		"/linkwatch/links/?q=a": "/linkwatch/links?q=a", "/links/": "/linkwatch/links", "/linkwatch/admin": "/linkwatch/admin/jobs",
	} {
		if got := get(s.Handler, "GET", path, "Accept", "text/html").Header().Get("Location"); got != to {
			t.Errorf("%s: got %q, want %q", path, got, to)
		}
	}
}

// The API returns URLs below the path, in headers and in bodies.
func TestAPIBelowAPath(t *testing.T) {
	s := newBelow(t)
	for range 2 {
		if to := s.Do("POST", "/linkwatch/v1/targets", `{"url": "https://a.example"}`).Header.Get("Location"); !strings.HasPrefix(to, "/linkwatch/v1/targets/t_") {
			t.Errorf("got Location %q", to)
		}
		s.Do("POST", "/v1/targets", `{"url": "https://b.example"}`)
	}
	if next := s.Request("GET", "/linkwatch/api/v1/targets?limit=1", "Accept", "text/csv").Header.Get("Link"); !strings.HasPrefix(next, "</linkwatch/api/v1/targets?limit=1&") {
		t.Errorf("got Link %q", next)
	}
	for _, path := range []string{"/linkwatch/v1/nothing", "/linkwatch/v1/targets/t_0", "/v1/targets?limit=x", "/linkwatch/s/nothing"} {
		var p middleware.Problem
		s.Must(json.Unmarshal([]byte(s.Request("GET", path, "Accept", "*/*").Body), &p))
		if !strings.HasPrefix(p.Type, "/linkwatch/probs/") || s.Request("GET", p.Type).Status != http.StatusOK {
			t.Errorf("%s: got the type %q", path, p.Type)
		}
	}
	short := s.Do("POST", "/linkwatch/v1/shortlinks", `{"long_url": "https://a.example", "short_key": "abcd"}`).Want(201)
	if short["short_url"] != "https://tools.example/linkwatch/s/abcd" || short["short_host_url"] != "https://go.example/abcd" {
		t.Errorf("got %v", short)
	}
	for _, own := range []string{"https://tools.example/linkwatch/s/abcd", "http://127.0.0.1:8080/s/abcd", "http://127.0.0.1:8080/linkwatch/s/abcd"} {
		s.Do("POST", "/v1/shortlinks", `{"long_url": "`+own+`"}`).Want(400)
	}
	s.Do("POST", "/v1/shortlinks", `{"long_url": "https://tools.example/s/abcd"}`).Want(201) // of another program
	for path, want := range map[string]string{
		"/openapi.json": `"url": "/linkwatch"`, "/openapi-3.0.json": `"/linkwatch/probs/not-found"`, "/apidoc": `src="/linkwatch/apidoc/start.js"`,
	} {
		if body := s.Request("GET", path).Body; !strings.Contains(body, want) {
			t.Errorf("%s lacks %s", path, want)
		}
	}
}

// SHORT_HOST serves short links at its root. Its pages and problems have no path.
func TestShortHostBesideAPath(t *testing.T) {
	s := newBelow(t)
	s.Do("POST", "/v1/shortlinks", `{"long_url": "https://a.example/b", "short_key": "abcd"}`).Want(201)
	if to := s.Request("GET", "/abcd", "Host", "go.example").Header.Get("Location"); to != "https://a.example/b" {
		t.Errorf("got Location %q", to)
	}
	if got := s.Request("GET", "/linkwatch/abcd", "Host", "go.example").Status; got != http.StatusNotFound {
		t.Errorf("below the path: got %d", got)
	}
	page := s.Request("GET", "/nothing", "Host", "go.example", "Accept", "text/html").Body
	if !strings.Contains(page, `href="/static/`) || strings.Contains(page, subpath) {
		t.Errorf("got %s", page)
	}
	if problem := s.Request("GET", "/nothing", "Host", "go.example").Body; !strings.Contains(problem, `"/probs/not-found"`) {
		t.Errorf("got %s", problem)
	}
}

// A login works below the path: cookies, places to return to, and requests of htmx.
func TestLoginBelowAPath(t *testing.T) {
	s := newBelow(t, apptest.Set("ADMIN_PASSWORD", "correct horse"))
	send := func(method, path, body string, headers ...string) *http.Response {
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.Host = "tools.example"
		r.Header.Set("Accept", "text/html")
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		s.Router.ServeHTTP(w, r)
		return w.Result()
	}
	want := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
	for _, path := range []string{"/linkwatch/links?q=a", "/links?q=a"} {
		want(path, send("GET", path, "").Header.Get("Location"), "/linkwatch/login?next=%2Flinks%3Fq%3Da")
	}
	want("a part", send("GET", "/linkwatch/links", "", "HX-Request", "true", "Referer", "https://tools.example/linkwatch/watch?q=b").Header.Get("HX-Redirect"),
		"/linkwatch/login?next=%2Fwatch%3Fq%3Db")
	res := send("POST", "/linkwatch/login", "username=admin&password=correct+horse&next=%2Flinks%3Fq%3Da", "Origin", "https://tools.example")
	want("login", res.Header.Get("Location"), "/linkwatch/links?q=a")
	var cookies []string
	for _, k := range res.Cookies() {
		if k.Path != subpath || !k.Secure || !k.HttpOnly || !strings.HasPrefix(k.Name, "__Secure-") || k.Domain != "" || k.MaxAge < int(time.Hour/time.Second) {
			t.Errorf("got the cookie %s", k)
		}
		cookies = append(cookies, k.Name+"="+k.Value)
	}
	// A browser also sends the cookies of a program at / on the same host.
	header := strings.Join(append(cookies, "__Host-linkwatch_session=other", "__Secure-linkwatch_session=other"), "; ")
	if got := send("GET", "/linkwatch/links", "", "Cookie", header); got.StatusCode != http.StatusOK {
		t.Errorf("signed in: got %d", got.StatusCode)
	}
	res = send("POST", "/linkwatch/watch", "url=https%3A%2F%2Fa.example&back=%2Fwatch%3Fq%3Da", "Cookie", header, "Origin", "https://tools.example")
	if to := res.Header.Get("Location"); res.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to, "/linkwatch/watch?") {
		t.Errorf("got %d to %q", res.StatusCode, to)
	}
	res = send("POST", "/linkwatch/watch", "url=https%3A%2F%2Fa.example", "Cookie", header, "Origin", "https://evil.example")
	if res.StatusCode != http.StatusForbidden {
		t.Errorf("from another origin: got %d", res.StatusCode)
	}
	if got := send("GET", "/linkwatch/links", "").Header.Get("Strict-Transport-Security"); got != "" {
		t.Errorf("got Strict-Transport-Security %q for the whole host", got)
	}
}
