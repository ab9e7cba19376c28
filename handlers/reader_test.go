package handlers_test

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/handlers/middleware"
	"linkwatch/models/accounts"
)

// reader has the session and the token of an account.
type reader struct {
	*apptest.App
	bearer string
}

func signIn(a *apptest.App, u accounts.User) *reader {
	a.Helper()
	scope := map[accounts.Role]string{accounts.Viewer: "read", accounts.Editor: "write", accounts.Admin: "read"}[u.Role]
	_, secret, err := a.Systems.Accounts.Store.AddToken(a.Context(), u, accounts.NewToken{Name: "test", Scopes: []string{scope}, By: u.Role})
	a.Must(err)
	return &reader{App: a.SignIn(u), bearer: "Bearer " + secret}
}

// see returns status, headers and body of a path. It uses the session unless headers (pairs of name and value) have a token.
func (a *reader) see(path string, headers ...string) string {
	a.Helper()
	r := httptest.NewRequestWithContext(a.TB.Context(), http.MethodGet, path, nil)
	r.Header.Set("Accept", "text/html")
	return a.send(r, headers...)
}

func (a *reader) send(r *http.Request, headers ...string) string {
	a.Helper()
	r.Host = "127.0.0.1:8080"
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	if r.Header.Get("Authorization") == "" {
		r.Header.Set("Cookie", "linkwatch_session="+a.Session())
	}
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, r)
	var b strings.Builder
	fmt.Fprintln(&b, w.Code)
	for _, name := range slices.Sorted(maps.Keys(w.Header())) {
		fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(w.Header()[name], ", "))
	}
	b.WriteString(w.Body.String())
	return b.String()
}

// volatile matches what differs between two responses to the same request: the request id and view counts, with their lengths.
var volatile = regexp.MustCompile(`Content-Length: \d+|X-Request-Id: \S+|Request <code>\w+|"request_id":"\w+"|"view_count":\d+|\d+ views?|Views</dt><dd>\d+|"uptime":"\w+"`)

func settled(answer string) string { return volatile.ReplaceAllString(answer, "") }

// differ returns the first difference of two texts.
func differ(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	cut := func(s string) string { return s[max(0, min(len(s), i-120)):min(len(s), i+120)] }
	return fmt.Sprintf("%q, now %q", cut(a), cut(b))
}

// listen opens streams. The returned function closes them and returns their events.
func (a *reader) listen(paths ...string) func() map[string]string {
	a.Helper()
	ctx, cancel := context.WithCancel(a.TB.Context())
	said := map[string]chan string{}
	for _, path := range paths {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, a.URL+path, nil)
		a.Must(err)
		r.Header.Set("Authorization", a.bearer)
		res, err := http.DefaultClient.Do(r)
		a.Must(err)
		if res.StatusCode != http.StatusOK {
			a.Errorf("%s: got %d", path, res.StatusCode)
		}
		of := make(chan string, 1)
		said[path] = of
		go func() {
			defer res.Body.Close()
			var b strings.Builder
			for s := bufio.NewScanner(res.Body); s.Scan(); {
				b.WriteString(s.Text() + "\n")
			}
			of <- b.String()
		}()
	}
	return func() map[string]string {
		time.Sleep(1100 * time.Millisecond) // they poll every second
		cancel()
		all := map[string]string{}
		for path, of := range said {
			all[path] = <-of
		}
		return all
	}
}

// bodies has request bodies of operations that change items.
var bodies = map[string]string{
	"PUT /v1/jobs/:id": `{"url":"https://mine.test/"}`, "PUT /v1/link/:id": `{"expired":true}`, "PUT /v1/link/:id/annotation": `{"title":"x","notes":"x","private":false}`, "PATCH /v1/link/:id": `{"expired":true}`, "POST /v1/link/:id/tags": `{"tags":["x"]}`,
	"PUT /v1/link/:id/tag/:tag_id": `{"name":"x"}`, "PUT /v1/websites/:id/credentials": `{"type":"service_account"}`, "POST /v1/alerts/:id/silence": `{"minutes":5}`,
	"POST /v1/websites/:id/priorities": `{"manual_priority":5}`, "POST /v1/websites/:id/sitemaps": `{"url":"https://mine.test/x.xml"}`, "PATCH /v1/pages/:id": `{"manual_priority":5}`,
}

// writes tries to change what belongs to another account, by every route.
func (a *reader) writes(of *belongings, secrets []string) {
	a.Helper()
	ids := slices.Sorted(maps.Values(of.ids))
	form := url.Values{
		"id": ids, "ids": ids, "targets": ids, "channels": ids, "source": {of.ids["source"]}, "source_id": {of.ids["source"]}, "target": {of.ids["target"]}, "name": {"x"}, "title": {"x"},
		"url": {"https://mine.test/"}, "tags": {"x"}, "tag": {"x"}, "minutes": {"5"}, "manual_priority": {"5"}, "credentials": {"{}"}, "private": {"false"},
		"long_url": {"https://mine.test/"}, "events": {"target.down"}, "save": {"1"}, "enabled": {"false"}, "paused": {"true"},
	}
	before := a.rows()
	try := func(method, path, contentType, body string, headers ...string) {
		a.Helper()
		r := httptest.NewRequestWithContext(a.TB.Context(), method, path, strings.NewReader(body))
		if body != "" {
			r.Header.Set("Content-Type", contentType)
		}
		got := a.send(r, headers...)
		shows(a.TB, method+" "+path, path+body, got, secrets)
		if strings.HasPrefix(got, "5") {
			a.Errorf("%s %s: got %s", method, path, got)
		}
		if now := a.rows(); now != before {
			a.Errorf("%s %s %s changes %s; answer: %.300s", method, path, body, differ(before, now), got)
			before = now
		}
	}
	post := func(path, action string) {
		a.Helper()
		form.Set("action", action)
		try(http.MethodPost, path, "application/x-www-form-urlencoded", form.Encode())
	}
	for _, r := range a.Router.Routes() {
		path, body := of.pathOf(r.Path), bodies[r.Method+" "+r.Path]
		switch {
		case r.Method == http.MethodGet || path == "" || r.Needs == middleware.Admin || r.Needs == middleware.Public:
		case !strings.HasPrefix(r.Path, "/v1/"):
			post(path, "boost")
		case body == "" && r.Method == http.MethodPatch:
			try(r.Method, path, "application/json", `{"private":false}`, "Authorization", a.bearer)
		default:
			try(r.Method, path, "application/json", body, "Authorization", a.bearer)
		}
	}
	// Operations with ids in the body.
	for path, body := range map[string]string{
		"/v1/jobs": `{"source_id":"<source>"}`, "/v1/feeds": `{"url":"https://mine.test/f","source_id":"<source>"}`, "/v1/frontier": `{"url":"https://mine.test/f","source_id":"<source>"}`,
		"/v1/alert-rules": `{"events":["target.down"],"channels":["<channel>"]}`, "/v1/status-pages": `{"slug":"mine","title":"x","targets":["<target>"]}`,
		"/v1/links/bulk": `{"action":"delete","ids":["<link>"]}`, "/v1/changes/<change>/undo": ``, "/v1/shortlinks": `{"long_url":"https://mine.test/","short_key":"<short link>"}`,
	} {
		for kind, id := range of.ids {
			path, body = strings.ReplaceAll(path, "<"+kind+">", id), strings.ReplaceAll(body, "<"+kind+">", id)
		}
		try(http.MethodPost, path, "application/json", body, "Authorization", a.bearer)
	}
	for _, path := range []string{"/links/bulk", "/crawl/pages/bulk", "/crawl/discovered/bulk", "/crawl/frontier/bulk", "/alerts/bulk", "/alerts/alert-me", "/crawl/schedule"} {
		for _, action := range []string{"delete", "retry", "refresh", "expire", "revive", "tag", "acknowledge", "silence", "save", "watch"} {
			post(path, action)
		}
	}
}

// rows returns all rows that a write could change.
func (a *reader) rows() string {
	a.Helper()
	var b strings.Builder
	for _, table := range []string{
		"links", "link_tags", "tags", "targets", "check_results", "outages", "short_links", "sources", "jobs", "job_executions", "frontier", "crawled_pages", "feeds",
		"discovered_links", "websites", "sitemaps", "pages", "submissions", "alerts", "channels", "alert_rules", "deliveries",
	} {
		var all []map[string]any
		a.Must(a.DB.Read(a.TB.Context()).Raw("SELECT * FROM " + table + " ORDER BY 1, 2, 3").Scan(&all).Error)
		fmt.Fprintln(&b, table, all)
	}
	return b.String()
}
