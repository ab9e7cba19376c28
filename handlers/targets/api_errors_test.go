package targets_test

import (
	"net/http"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models"
)

// Invalid requests return a complete problem without the values of the request, and
// store nothing.
func TestTargetErrors(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	id := s.Watch("https://example.com", "").ID
	at, results := "/v1/targets/"+id, "/v1/targets/"+id+"/results"
	unknown := models.NewID(models.KindTarget)
	check(s, id, foundUp, foundUp)
	token := s.Do("GET", results+"?limit=1", "").Want(200)["next_page_token"].(string)
	before := s.Do("GET", at, "").Body
	for _, c := range []struct {
		method, path, body string
		status             int
		location           string
	}{
		{"POST", "/v1/targets", ``, 400, "body"},
		{"POST", "/v1/targets", `{"url":"` + canary, 400, "body"},
		{"POST", "/v1/targets", `null`, 400, "body"},
		{"POST", "/v1/targets", `["` + canary + `"]`, 400, "body"},
		{"POST", "/v1/targets", `{}`, 400, "url"},
		{"POST", "/v1/targets", `{"url":null}`, 400, "url"},
		{"POST", "/v1/targets", `{"url":7}`, 400, "url"},
		{"POST", "/v1/targets", `{"url":""}`, 400, "url"},
		{"POST", "/v1/targets", `{"url":"` + canary + `"}`, 400, "url"},
		{"POST", "/v1/targets", `{"url":"ftp://` + canary + `"}`, 400, "url"},
		{"POST", "/v1/targets", `{"url":"http:///` + canary + `"}`, 400, "url"},
		{"POST", "/v1/targets", `{"url":"https://user:` + canary + `@x.test"}`, 400, "url"},
		{"POST", "/v1/targets", `{"url":"https://x.test/` + strings.Repeat(canary, 200) + `"}`, 400, "url"},
		{"POST", "/v1/targets", `{"url":"https://x.test","url":"https://` + canary + `"}`, 400, "body"},
		{"POST", "/v1/targets", `{"url":"https://x.test","` + canary + `":1}`, 400, "body"},
		{"POST", "/v1/targets", `{"url":"https://x.test","URL":"https://` + canary + `"}`, 400, "body"},
		{"POST", "/v1/targets", `{"url":"https://x.test","paused":true}`, 400, "body"},
		{"POST", "/v1/targets", `{"url":"https://x.test","name":["` + canary + `"]}`, 400, "name"},
		{"POST", "/v1/targets", `{"url":"https://x.test","name":"` + strings.Repeat(canary, 15) + `"}`, 400, "name"},
		{"POST", "/v1/targets", `{"url":"https://x.test","interval_seconds":0}`, 400, "interval_seconds"},
		{"POST", "/v1/targets", `{"url":"https://x.test","interval_seconds":-60}`, 400, "interval_seconds"},
		{"POST", "/v1/targets", `{"url":"https://x.test","interval_seconds":1.5}`, 400, "interval_seconds"},
		{"POST", "/v1/targets", `{"url":"https://x.test","interval_seconds":2592001}`, 400, "interval_seconds"},
		{"POST", "/v1/targets", `{"url":"https://x.test","interval_seconds":1e300}`, 400, "interval_seconds"},
		{"POST", "/v1/targets", `{"url":"https://x.test","interval_seconds":1e999}`, 400, "body"},
		{"POST", "/v1/targets", `{"url":"https://x.test","interval_seconds":"` + canary + `"}`, 400, "interval_seconds"},
		{"POST", "/v1/targets", `{"url":"https://x.test","expect":"` + canary + `"}`, 400, "expect"},
		{"POST", "/v1/targets", `{"url":"https://x.test","expect":{"` + canary + `":1}}`, 400, "expect"},
		{"POST", "/v1/targets", `{"url":"https://x.test","expect":{"Status":"200"}}`, 400, "expect"},
		{"POST", "/v1/targets", `{"url":"https://x.test","expect.` + canary + `":"200"}`, 400, "expect"},
		{"POST", "/v1/targets", `{"url":"https://x.test","expect":{"status":200}}`, 400, "expect.status"},
		{"POST", "/v1/targets", `{"url":"https://x.test","expect":{"status":"` + canary + `"}}`, 400, "expect.status"},
		{"POST", "/v1/targets", `{"url":"https://x.test","expect":{"status":"300-200"}}`, 400, "expect.status"},
		{"POST", "/v1/targets", `{"url":"https://x.test","expect":{"keyword":"` + strings.Repeat(canary, 15) + `"}}`, 400, "expect.keyword"},
		{"POST", "/v1/targets", `{"url":"https://x.test","expect":{"keyword":"\u0000"}}`, 400, "expect.keyword"},
		{"POST", "/v1/targets", `{"url":"https://x.test","expect":{"keyword_absent":[]}}`, 400, "expect.keyword_absent"},
		{"POST", "/v1/targets", `{"url":"https://x.test","expect":{"max_latency_ms":0}}`, 400, "expect.max_latency_ms"},
		{"POST", "/v1/targets", `{"url":"https://x.test","expect":{"max_latency_ms":300001}}`, 400, "expect.max_latency_ms"},
		{"PATCH", at, ``, 400, "body"},
		{"PATCH", at, `[]`, 400, "body"},
		{"PATCH", at, `{"name":7}`, 400, "name"},
		{"PATCH", at, `{"name":"` + strings.Repeat(canary, 15) + `"}`, 400, "name"},
		{"PATCH", at, `{"paused":null}`, 400, "paused"},
		{"PATCH", at, `{"paused":"` + canary + `"}`, 400, "paused"},
		{"PATCH", at, `{"name":"x","interval_seconds":0}`, 400, "interval_seconds"},
		{"PATCH", at, `{"name":"x","expect":{"status":"99"}}`, 400, "expect.status"},
		{"PATCH", at, `{"expect":{"` + canary + `":null}}`, 400, "expect"},
		{"PATCH", at, `{"url":"https://` + canary + `"}`, 400, "body"},
		{"PATCH", at, `{"id":null}`, 400, "body"},
		{"GET", "/v1/targets?limit=0", ``, 400, "query.limit"},
		{"GET", "/v1/targets?limit=-1", ``, 400, "query.limit"},
		{"GET", "/v1/targets?limit=501", ``, 400, "query.limit"},
		{"GET", "/v1/targets?limit=" + canary, ``, 400, "query.limit"},
		{"GET", "/v1/targets?limit=99999999999999999999", ``, 400, "query.limit"},
		{"GET", "/v1/targets?page_token=" + canary, ``, 400, "query.page_token"},
		{"GET", "/v1/targets?page_token=e30=", ``, 400, "query.page_token"},
		{"GET", "/v1/targets?page_token=" + token, ``, 400, "query.page_token"},
		{"GET", "/v1/targets?page_token=" + strings.Repeat("A", 2000), ``, 400, "query.page_token"},
		{"GET", "/v1/targets?status=" + canary, ``, 400, "query.status"},
		{"GET", "/v1/targets?host=%zz" + canary, ``, 400, "query"},
		{"GET", results + "?limit=501", ``, 400, "query.limit"},
		{"GET", results + "?page_token=" + canary, ``, 400, "query.page_token"},
		{"GET", results + "?since=" + canary, ``, 400, "query.since"},
		{"GET", results + "?since=2026-03-24", ``, 400, "query.since"},
		{"GET", results + "?since=2026-03-24T12:00:00", ``, 400, "query.since"},
		{"GET", results + "?since=2026-02-30T12:00:00Z", ``, 400, "query.since"},
		{"GET", results + "?failed=" + canary, ``, 400, "query.failed"},
		{"GET", at + "/outages?limit=0", ``, 400, "query.limit"},
		{"GET", at + "/outages?page_token=" + token, ``, 400, "query.page_token"},
		{"GET", at + "/history?range=" + canary, ``, 400, "query.range"},
		{"GET", "/v1/checks?limit=501", ``, 400, "query.limit"},
		{"GET", "/v1/checks?since=" + canary, ``, 400, "query.since"},
		{"POST", "/v1/status-pages", ``, 400, "body"},
		{"POST", "/v1/status-pages", `{"title":"x"}`, 400, "slug"},
		{"POST", "/v1/status-pages", `{"slug":"x"}`, 400, "title"},
		{"POST", "/v1/status-pages", `{"slug":"x","title":""}`, 400, "title"},
		{"POST", "/v1/status-pages", `{"slug":"Not/a ` + canary + `","title":"x"}`, 400, "slug"},
		{"POST", "/v1/status-pages", `{"slug":"x","title":"x","` + canary + `":1}`, 400, "body"},
		{"POST", "/v1/status-pages", `{"slug":"x","title":"x","description":7}`, 400, "description"},
		{"POST", "/v1/status-pages", `{"slug":"x","title":"x","targets":"` + canary + `"}`, 400, "targets"},
		{"POST", "/v1/status-pages", `{"slug":"x","title":"x","targets":["` + id + `",7]}`, 400, "targets[1]"},
		{"POST", "/v1/status-pages", `{"slug":"x","title":"x","targets":["` + id + `","` + canary + `"]}`, 400, "targets[1]"},
		{"POST", "/v1/status-pages", `{"slug":"x","title":"x","targets":["\u0000"]}`, 400, "targets[0]"},
		{"GET", "/v1/targets/" + unknown, ``, 404, ""},
		{"GET", "/v1/targets/" + canary, ``, 404, ""},
		{"GET", "/v1/targets/%00", ``, 404, ""},
		{"GET", "/v1/targets/" + strings.Repeat("t", 5000), ``, 404, ""},
		{"PATCH", "/v1/targets/" + unknown, `{"name":"x"}`, 404, ""},
		{"PATCH", "/v1/targets/" + unknown, `{"expect":{"keyword":"x"}}`, 404, ""},
		{"DELETE", "/v1/targets/" + unknown, ``, 404, ""},
		{"POST", "/v1/targets/" + unknown + "/check", ``, 404, ""},
		{"POST", "/v1/targets/" + unknown + "/restore", ``, 404, ""},
		{"GET", "/v1/targets/" + unknown + "/results", ``, 404, ""},
		{"GET", "/v1/targets/" + unknown + "/outages", ``, 404, ""},
		{"GET", "/v1/targets/" + unknown + "/history", ``, 404, ""},
		{"GET", "/v1/targets/" + id + "/" + canary, ``, 404, ""},
		{"GET", "/v1/status-pages/" + canary, ``, 404, ""},
		{"GET", "/v1/status-pages/%00", ``, 404, ""},
		{"GET", "/v1/status-pages/%ff", ``, 404, ""},
		{"DELETE", "/v1/status-pages/%00", ``, 404, ""},
		{"PUT", "/v1/status-pages/" + canary, `{"slug":"x","title":"x"}`, 404, ""},
		{"PUT", at, `{}`, 405, ""},
		{"DELETE", "/v1/targets", ``, 405, ""},
		{"DELETE", results, ``, 405, ""},
		{"PATCH", "/v1/status-pages/" + canary, `{}`, 405, ""},
		{"POST", "/v1/targets", `{"url":"` + strings.Repeat("a", 1<<20) + `"}`, 413, ""},
	} {
		a := s.Do(c.method, c.path, c.body)
		slug := map[int]string{400: "invalid-request", 404: "not-found", 405: "method-not-allowed", 413: "too-large"}[c.status]
		if a.Status != c.status {
			s.Errorf("%.200s %.200s: %d, want %d: %s", a.Call, c.body, a.Status, c.status, a.Body)
			continue
		}
		a.Problem(c.status, slug, c.location)
		if strings.Contains(a.Body, canary) || strings.Contains(a.Body, "Go struct") || len(a.Body) > 1000 {
			s.Errorf("%s echoes what was sent: %s", a.Call, a.Body)
		}
	}
	if after := s.Do("GET", at, "").Body; after != before {
		s.Errorf("a refused request changed the target:\n%s\n%s", before, after)
	}
	if n := len(apptest.Items(s.Do("GET", "/v1/targets", "").Want(200))) + len(apptest.Items(s.Do("GET", "/v1/status-pages", "").Want(200))); n != 1 {
		s.Errorf("%d targets and status pages are stored, want 1", n)
	}
	for _, query := range []string{"host=%00", "host=%ff", "q=%00", "q=%ff", "host=%25", "q=%5c"} {
		if n := len(apptest.Items(s.Do("GET", "/v1/targets?"+query, "").Want(200))); n != 0 && query != "q=%00" {
			s.Errorf("%s finds %d targets", query, n)
		}
	}
}

func TestTargetMediaType(t *testing.T) {
	s := apptest.New(t)
	at := "/v1/targets/" + s.Watch("https://example.com", "").ID
	for _, ct := range []string{"text/plain", "application/x-www-form-urlencoded", ""} {
		s.Send("POST", "/v1/targets", ct, `{"url":"https://a.test"}`).Problem(http.StatusUnsupportedMediaType, "unsupported-media-type", "")
		s.Send("PATCH", at, ct, `{}`).Problem(http.StatusUnsupportedMediaType, "unsupported-media-type", "")
	}
}
