//go:build e2e

package e2e

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// Invalid requests return 400 or 404 and the location of the error, without the rejected values.
func TestTargetBadInput(t *testing.T) {
	t.Parallel()
	web, s := site(t), Start(t, "CHECK_INTERVAL=1h")
	known := s.addTarget(web.URL + "/known")
	const secret = "hunter2"
	unknown := "/v1/targets/t_" + strings.Repeat("0", 22)
	for name, c := range map[string]struct {
		method, path, body string
		status             int
		location           string // of the first error; "" = not checked
	}{
		"no URL":                       {"POST", "/v1/targets", `{}`, 400, "url"},
		"an empty URL":                 {"POST", "/v1/targets", `{"url": ""}`, 400, "url"},
		"a URL that is none":           {"POST", "/v1/targets", `{"url": "hunter2"}`, 400, "url"},
		"no host":                      {"POST", "/v1/targets", `{"url": "http:///hunter2"}`, 400, "url"},
		"another scheme":               {"POST", "/v1/targets", `{"url": "ftp://hunter2.example/"}`, 400, "url"},
		"a script":                     {"POST", "/v1/targets", `{"url": "javascript:alert('hunter2')"}`, 400, "url"},
		"user and password":            {"POST", "/v1/targets", `{"url": "http://root:hunter2@example.com/"}`, 400, "url"},
		"a URL that is too long":       {"POST", "/v1/targets", `{"url": "http://example.com/` + strings.Repeat("hunter2", 300) + `"}`, 400, "url"},
		"a URL that is a number":       {"POST", "/v1/targets", `{"url": 7}`, 400, "url"},
		"no JSON":                      {"POST", "/v1/targets", `{"url": hunter2`, 400, ""},
		"a list":                       {"POST", "/v1/targets", `["hunter2"]`, 400, ""},
		"an unknown member":            {"POST", "/v1/targets", `{"url": "http://example.com/", "color": "hunter2"}`, 400, ""},
		"a negative interval":          {"POST", "/v1/targets", `{"url": "http://example.com/", "interval_seconds": -1}`, 400, "interval_seconds"},
		"an interval of years":         {"POST", "/v1/targets", `{"url": "http://example.com/", "interval_seconds": 99999999}`, 400, "interval_seconds"},
		"an interval in words":         {"POST", "/v1/targets", `{"url": "http://example.com/", "interval_seconds": "hunter2"}`, 400, "interval_seconds"},
		"a name that is too long":      {"POST", "/v1/targets", `{"url": "http://example.com/", "name": "` + strings.Repeat("hunter2", 30) + `"}`, 400, "name"},
		"a status in words":            {"POST", "/v1/targets", `{"url": "http://example.com/", "expect": {"status": "hunter2"}}`, 400, "expect.status"},
		"a status range backwards":     {"POST", "/v1/targets", `{"url": "http://example.com/", "expect": {"status": "399-200"}}`, 400, "expect.status"},
		"a keyword without an end":     {"POST", "/v1/targets", `{"url": "http://example.com/", "expect": {"keyword": "` + strings.Repeat("hunter2", 30) + `"}}`, 400, "expect.keyword"},
		"a negative latency":           {"POST", "/v1/targets", `{"url": "http://example.com/", "expect": {"max_latency_ms": -5}}`, 400, "expect.max_latency_ms"},
		"a latency of hours":           {"POST", "/v1/targets", `{"url": "http://example.com/", "expect": {"max_latency_ms": 99999999}}`, 400, "expect.max_latency_ms"},
		"an expectation of no name":    {"POST", "/v1/targets", `{"url": "http://example.com/", "expect": {"mood": "hunter2"}}`, 400, ""},
		"a token that is none":         {"GET", "/v1/targets?page_token=hunter2", "", 400, "query.page_token"},
		"a limit of none":              {"GET", "/v1/targets?limit=0", "", 400, "query.limit"},
		"a limit that is too high":     {"GET", "/v1/targets?limit=501", "", 400, "query.limit"},
		"a limit in words":             {"GET", "/v1/targets?limit=hunter2", "", 400, "query.limit"},
		"since a day of no name":       {"GET", "/v1/targets/" + known.ID + "/results?since=hunter2", "", 400, "query.since"},
		"a token of results":           {"GET", "/v1/targets/" + known.ID + "/results?page_token=hunter2", "", 400, "query.page_token"},
		"a change of the URL":          {"PATCH", "/v1/targets/" + known.ID, `{"url": "http://hunter2.example/"}`, 400, ""},
		"a pause that is no yes or no": {"PATCH", "/v1/targets/" + known.ID, `{"paused": "hunter2"}`, 400, "paused"},
		"a negative new interval":      {"PATCH", "/v1/targets/" + known.ID, `{"interval_seconds": -1}`, 400, "interval_seconds"},
		"unknown: get":                 {"GET", unknown, "", 404, ""},
		"unknown: change":              {"PATCH", unknown, `{"paused": true}`, 404, ""},
		"unknown: delete":              {"DELETE", unknown, "", 404, ""},
		"unknown: results":             {"GET", unknown + "/results", "", 404, ""},
		"unknown: check now":           {"POST", unknown + "/check", "", 404, ""},
		"an id that is none":           {"GET", "/v1/targets/hunter2", "", 404, ""},
		"another method":               {"PUT", "/v1/targets/" + known.ID, `{}`, 405, ""},
	} {
		t.Run(name, func(t *testing.T) {
			res := send(t, s, c.method, c.path, c.body, func(r *http.Request) {
				if c.body != "" {
					r.Header.Set("Content-Type", "application/json")
				}
			})
			body, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			slug := map[int]string{400: "invalid-request", 404: "not-found", 405: "method-not-allowed"}[c.status]
			if res.StatusCode != c.status || res.Header.Get("Content-Type") != "application/problem+json" || !strings.Contains(string(body), "/probs/"+slug) {
				t.Errorf("got %d %s %s, want %d %s", res.StatusCode, res.Header.Get("Content-Type"), body, c.status, slug)
			}
			if c.location != "" && !strings.Contains(string(body), `"location":"`+c.location+`"`) {
				t.Errorf("the response does not contain the location %s: %s", c.location, body)
			}
			if strings.Contains(string(body), secret) {
				t.Errorf("the response repeats the rejected value: %s", body)
			}
		})
	}
	if all, _ := listed[target](s, "/v1/targets"); len(all) != 1 {
		t.Errorf("got %d targets after bad requests, want 1", len(all))
	}
}
