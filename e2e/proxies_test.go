//go:build e2e

package e2e

import (
	"bufio"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

const proxyPassword = "correct horse"

// TestProxies uses the server through the files for nginx and Caddy in deploy/.
func TestProxies(t *testing.T) {
	t.Parallel()
	const own, below = "https://links.example", "https://example.com/linkwatch"
	for name, c := range map[string]struct {
		url   string
		start func(t *testing.T, s *Server) *proxy
	}{
		"nginx":                       {own, func(t *testing.T, s *Server) *proxy { return nginx(t, s, "nginx.conf") }},
		"nginx below a path":          {below, func(t *testing.T, s *Server) *proxy { return nginx(t, s, "nginx-subpath.conf") }},
		"nginx that removes the path": {below, func(t *testing.T, s *Server) *proxy { return nginx(t, s, "nginx-subpath.conf", removesPath(s)...) }},
		"Caddy":                       {own, func(t *testing.T, s *Server) *proxy { return caddy(t, s, "Caddyfile") }},
		"Caddy below a path":          {below, func(t *testing.T, s *Server) *proxy { return caddy(t, s, "Caddyfile-subpath") }},
		"Caddy that removes the path": {below, func(t *testing.T, s *Server) *proxy {
			return caddy(t, s, "Caddyfile-subpath", "handle /", "handle_path /")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := Start(t, "PUBLIC_URL="+c.url, "SHORT_HOST=go.example", "TRUSTED_PROXIES=127.0.0.1", "ADMIN_PASSWORD="+proxyPassword)
			useThrough(t, c.start(t, s), site(t), c.url)
		})
	}
}

// removesPath changes deploy/nginx-subpath.conf as its comment says.
func removesPath(s *Server) []string {
	return []string{"        proxy_pass http://127.0.0.1:8080;", "        proxy_pass " + s.URL + "/;"}
}

// useThrough uses the server whose PUBLIC_URL is base, behind p.
func useThrough(t *testing.T, p *proxy, web *website, base string) {
	t.Helper()
	path := strings.TrimPrefix(strings.TrimPrefix(base, "https://links.example"), "https://example.com")
	redirects := func(res *http.Response, want string) {
		t.Helper()
		to := strings.Replace(res.Header.Get("Location"), fmt.Sprintf(":%d/", p.https), "/", 1) // instead of 443
		if res.StatusCode < 300 || res.StatusCode > 399 || to != want {
			t.Errorf("%s %s: got %s to %q, want a redirect to %q", res.Request.Method, res.Request.URL, res.Status, to, want)
		}
	}
	browser := []string{
		"Accept", "text/html", "Origin", strings.TrimSuffix(base, path), "Content-Type", "application/x-www-form-urlencoded",
		"X-Forwarded-For", "203.0.113.9", "X-Forwarded-Proto", "http", // forged
	}
	redirects(p.get(t, strings.Replace(base, "https", "http", 1)+"/links", 308, "", browser...), base+"/links")
	if path != "" {
		bare := p.send(t, "GET", base, "", browser...)
		if to := bare.Header.Get("Location"); bare.StatusCode/100 != 3 || !strings.HasSuffix(to, path+"/") {
			t.Errorf("%s: got %s to %q, want a redirect to %s/", base, bare.Status, to, path)
		}
	}
	redirects(p.get(t, base+"/links?q=a", 303, "", browser...), path+"/login?next=%2Flinks%3Fq%3Da")
	redirects(p.send(t, "POST", base+"/login", "username=admin&password=correct+horse&next=%2Flinks", browser...), path+"/links")
	if res := p.send(t, "POST", base+"/links", "url="+web.URL+"/a-page", browser...); !strings.HasPrefix(res.Header.Get("Location"), path+"/links?") {
		t.Errorf("adding a link: got %s to %q", res.Status, res.Header.Get("Location"))
	}
	page := p.get(t, base+"/links", 200, web.URL+"/a-page", browser...)
	if all := p.Jar.Cookies(page.Request.URL); len(all) != 2 || !strings.HasPrefix(all[0].Name, "__") || !strings.HasPrefix(all[1].Name, "__") {
		t.Errorf("got the cookies %s, which are not secure", all)
	}
	p.get(t, base+"/", 200, `src="`+path+`/static/`, browser...)
	p.get(t, base+"/static/x/app.css", 200, "body")
	p.get(t, base+"/apidoc", 200, `src="`+path+`/apidoc/swagger-ui-bundle.js"`)
	p.get(t, base+"/apidoc/swagger-ui-bundle.js", 200, "")
	p.get(t, base+"/openapi.json", 200, `"url": "`+cmp.Or(path, "/")+`"`)
	p.get(t, base+"/v1/nothing", 404, `"`+path+`/probs/not-found"`)
	p.get(t, base+"/healthz", 200, "ok")

	api := func(to, body string, want int) (answer struct {
		ID       string
		ShortURL string `json:"short_url"`
		Type     string
	}) {
		t.Helper()
		res := p.send(t, "POST", base+to, body, "Content-Type", "application/json", "Authorization", "Bearer "+proxyPassword)
		if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || res.StatusCode != want {
			t.Errorf("POST %s: got %s, %v", to, res.Status, err)
		}
		return answer
	}
	if short := api("/v1/shortlinks", `{"long_url": "https://a.example/b", "short_key": "spring"}`, 201); short.ShortURL != base+"/s/spring" {
		t.Errorf("got the short link %q", short.ShortURL)
	}
	redirects(p.get(t, base+"/s/spring", 302, ""), "https://a.example/b")
	redirects(p.get(t, "https://go.example/spring", 302, ""), "https://a.example/b")
	p.get(t, "https://go.example/nothing", 404, `href="/static/`, "Accept", "text/html")
	if got := api("/v1/shortlinks", `{"title": "`+strings.Repeat("a", 3<<19)+`"}`, 413); got.Type != path+"/probs/too-large" {
		t.Errorf("a large body: got the problem %q", got.Type)
	}
	target := api("/v1/targets", `{"url": "`+web.URL+`/shop"}`, 201)
	api("/v1/status-pages", `{"title": "Shop", "slug": "shop", "targets": ["`+target.ID+`"]}`, 201)
	p.get(t, base+"/status/shop/feed", 200, `href="`+base+`/status/shop"`)
	p.get(t, base+"/badge/"+target.ID+"/status.svg", 200, "<svg")

	stream := p.send(t, "GET", base+"/sse/crawler/events", "")
	if line, err := bufio.NewReader(stream.Body).ReadString('\n'); err != nil || !strings.HasPrefix(line, "retry: ") {
		t.Errorf("the stream started with %q, %v", line, err)
	}
	res := p.send(t, "POST", base+"/links", "url=https://b.example", "Accept", "text/html", "Origin", "https://evil.example")
	if res.StatusCode != http.StatusForbidden {
		t.Errorf("a request from another origin: got %s", res.Status)
	}
	p.get(t, base+"/v1/audit?address=127.0.0.1", 200, `"login"`)
	p.get(t, base+"/v1/audit?address=203.0.113.9", 200, `"items":[]`)
}

// TestProxyLogin: nginx asks for a password, except on public paths and for API tokens, and Linkwatch believes only
// nginx.
func TestProxyLogin(t *testing.T) {
	t.Parallel()
	s := Start(t, "PUBLIC_URL=https://links.example", "TRUSTED_PROXIES=127.0.0.1", "AUTH_PROXY_HEADER=Remote-User", "AUTH_PROXY_FROM=127.0.0.1")
	command(t, s, "", "user", "add", "alice", "--role", "admin")
	token := strings.TrimSpace(command(t, s, "", "token", "add", "alice"))
	passwords := filepath.Join(t.TempDir(), "htpasswd")
	write(t, passwords, "alice:{PLAIN}"+proxyPassword+"\n")
	p := nginx(t, s, "nginx-auth.conf", "/etc/nginx/linkwatch.htpasswd", passwords)
	const base = "https://links.example"
	basic := func(user, password string) []string {
		return []string{"Accept", "text/html", "Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))}
	}
	p.get(t, base+"/settings", 200, "alice", basic("alice", proxyPassword)...)
	p.get(t, base+"/v1/links", 200, "results", basic("alice", proxyPassword)...)
	p.get(t, base+"/settings", 401, "nginx", basic("alice", "wrong")...)
	p.get(t, base+"/v1/links", 401, "nginx", "Remote-User", "alice")
	p.get(t, base+"/v1/links", 200, "results", "Authorization", "Bearer "+token)
	p.get(t, base+"/v1/links", 401, "unauthorized", "Authorization", "Bearer lw_wrong", "Remote-User", "alice")

	list, err := os.ReadFile(routes)
	if err != nil {
		t.Fatal(err)
	}
	parameter, checked := regexp.MustCompile(`[:*]\w+`), 0
	for line := range strings.Lines(string(list)) {
		route := strings.Fields(line)                                                          // role, method, path; more on a host of its own
		if len(route) != 3 || strings.HasPrefix(route[2], "/login") || route[2] == "/logout" { // nginx itself asks for the login
			continue
		}
		checked++
		forged := []string{"Remote-User", "alice", "Authorization", basic("alice", "wrong")[3]}
		res := p.send(t, route[1], base+parameter.ReplaceAllString(route[2], "x1"), "", forged...)
		byNginx := res.StatusCode == http.StatusUnauthorized && res.Header.Get("WWW-Authenticate") == `Basic realm="Linkwatch"`
		if isPublic := route[0] == "public"; byNginx == isPublic {
			t.Errorf("%s: got %s, asked by nginx: %t", strings.TrimSpace(line), res.Status, byNginx)
		}
	}
	if checked < 300 {
		t.Errorf("got only %d routes", checked)
	}
}

// TestBrowserBelowAPath uses pages in a browser, behind nginx. No request is outside of the path of PUBLIC_URL.
func TestBrowserBelowAPath(t *testing.T) {
	t.Parallel()
	web := site(t)
	s := Start(t, demoIn(t), "TRUSTED_PROXIES=127.0.0.1", "ADMIN_PASSWORD="+proxyPassword, "PUBLIC_URL=https://127.0.0.1/linkwatch")
	p := nginx(t, s, "nginx-subpath.conf", "Host $host;", "Host $http_host;")
	outside := fmt.Sprintf("https://127.0.0.1:%d", p.https)
	b := browse(t, &Server{URL: outside + "/linkwatch", t: t}, wide, "/")
	var mu sync.Mutex
	var requests, strays []string
	if err := chromedp.Listen(b.ctx, func(event any) {
		if e, ok := event.(*network.EventRequestWillBeSent); ok {
			mu.Lock()
			defer mu.Unlock()
			requests = append(requests, e.Request.URL)
			if strings.HasPrefix(e.Request.URL, outside) && !strings.HasPrefix(e.Request.URL, outside+"/linkwatch/") {
				strays = append(strays, e.Request.URL)
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	b.open("/links")
	b.fill("input[name=username]", "admin")
	b.fill("input[name=password]", proxyPassword)
	b.click("button.primary")
	b.wait(`location.pathname === "/linkwatch/links"`)
	b.fill("#url", web.set("/a-page", titled("A page without a picture"))) // pictures have no HTTPS here
	b.see("A page without a picture")
	b.click("#add button.primary")
	b.see("Link saved")
	b.fill("#q", "picture") // htmx replaces the list and the address
	b.wait(`location.href.endsWith("/linkwatch/links?q=picture")`)
	b.open("/links")
	b.click(".row:nth-child(20) input")
	b.has("#bulk button[value=expire]")
	eval[chromedp.Void](b, `document.querySelector("#bulk button[value=expire]").click()`) // without scrolling to it
	b.see("1 link expired.")
	b.wait(`scrollY > 100`) // the page has kept its position
	b.open("/watch")
	b.click("[data-pause]") // htmx posts the form
	b.has("[data-row].paused")
	b.press("go")
	b.wait(`location.pathname === "/linkwatch/"`)
	b.open("/status/demo")
	b.open("/short")
	b.click("[data-palette]")
	b.fill("#palette-q", "spring")
	b.has("#palette-found [role=option]")
	b.open("/apidoc")
	b.see("Linkwatch saves links")
	b.open("/crawl")
	b.click("[data-row] [data-main]")
	b.wait(`location.pathname.startsWith("/linkwatch/crawl/jobs/")`)
	mu.Lock()
	defer mu.Unlock()
	if len(strays) > 0 || len(requests) < 30 {
		t.Errorf("got %d requests, outside of the path: %q", len(requests), strays)
	}
}
