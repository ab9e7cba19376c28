package shortlinks_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestShortLinkErrors: invalid requests return a complete problem that does not repeat the input, and
// change nothing.
func TestShortLinkErrors(t *testing.T) {
	each(t, func(s *server) {
		at := s.shorten(`"short_key":"abcd","title":"kept"`)
		before := s.Do("GET", "/v1/shortlinks", "").Body
		post := func(members string) string { return `{"long_url":"https://x.test",` + members + `}` }
		for _, c := range []struct {
			method, path, body string
			status             int
			location           string
		}{
			{"POST", "/v1/shortlinks", ``, 400, "body"},
			{"POST", "/v1/shortlinks", `{"long_url":"` + canary, 400, "body"},
			{"POST", "/v1/shortlinks", `null`, 400, "body"},
			{"POST", "/v1/shortlinks", `["` + canary + `"]`, 400, "body"},
			{"POST", "/v1/shortlinks", `{}`, 400, "long_url"},
			{"POST", "/v1/shortlinks", `{"long_url":null}`, 400, "long_url"},
			{"POST", "/v1/shortlinks", `{"long_url":7}`, 400, "long_url"},
			{"POST", "/v1/shortlinks", `{"long_url":""}`, 400, "long_url"},
			{"POST", "/v1/shortlinks", `{"long_url":"` + canary + `"}`, 400, "long_url"},
			{"POST", "/v1/shortlinks", `{"long_url":"ftp://` + canary + `"}`, 400, "long_url"},
			{"POST", "/v1/shortlinks", `{"long_url":"javascript:alert('` + canary + `')"}`, 400, "long_url"},
			{"POST", "/v1/shortlinks", `{"long_url":"JavaScript:alert(1)"}`, 400, "long_url"},
			{"POST", "/v1/shortlinks", `{"long_url":"data:text/html,` + canary + `"}`, 400, "long_url"},
			{"POST", "/v1/shortlinks", `{"long_url":"file:///etc/passwd"}`, 400, "long_url"},
			{"POST", "/v1/shortlinks", `{"long_url":"//x.test/` + canary + `"}`, 400, "long_url"},
			{"POST", "/v1/shortlinks", `{"long_url":"http:///` + canary + `"}`, 400, "long_url"},
			{"POST", "/v1/shortlinks", `{"long_url":"https://user:` + canary + `@x.test"}`, 400, "long_url"},
			{"POST", "/v1/shortlinks", `{"long_url":"http://256.1.1.1/` + canary + `"}`, 400, "long_url"},
			{"POST", "/v1/shortlinks", `{"long_url":"http:/x.test/` + canary + `"}`, 400, "long_url"},
			{"POST", "/v1/shortlinks", `{"long_url":"x.test/` + canary + `"}`, 400, "long_url"},
			{"POST", "/v1/shortlinks", `{"long_url":"https://x.test/` + strings.Repeat(canary, 200) + `"}`, 400, "long_url"},
			{"POST", "/v1/shortlinks", `{"long_url":"https://x.test","long_url":"https://` + canary + `"}`, 400, "body"},
			{"POST", "/v1/shortlinks", `{"url":"https://x.test"}`, 400, "body"},
			{"POST", "/v1/shortlinks", post(`"` + canary + `":1`), 400, "body"},
			{"POST", "/v1/shortlinks", post(`"Short_Key":"abcde"`), 400, "body"},
			{"POST", "/v1/shortlinks", post(`"disabled":true`), 400, "body"},
			{"POST", "/v1/shortlinks", post(`"short_key":""`), 400, "short_key"},
			{"POST", "/v1/shortlinks", post(`"short_key":"abc"`), 400, "short_key"},
			{"POST", "/v1/shortlinks", post(`"short_key":"` + strings.Repeat("k", 65) + `"`), 400, "short_key"},
			{"POST", "/v1/shortlinks", post(`"short_key":"` + canary + `!"`), 400, "short_key"},
			{"POST", "/v1/shortlinks", post(`"short_key":"abc\n"`), 400, "short_key"},
			{"POST", "/v1/shortlinks", post(`"short_key":"abcd\n"`), 400, "short_key"},
			{"POST", "/v1/shortlinks", post(`"short_key":"abc/d"`), 400, "short_key"},
			{"POST", "/v1/shortlinks", post(`"short_key":"schlüssel"`), 400, "short_key"},
			{"POST", "/v1/shortlinks", post(`"short_key":"\u0000abc"`), 400, "short_key"},
			{"POST", "/v1/shortlinks", post(`"short_key":1234`), 400, "short_key"},
			{"POST", "/v1/shortlinks", post(`"short_key":"admin"`), 400, "short_key"},
			{"POST", "/v1/shortlinks", post(`"short_key":"Links"`), 400, "short_key"},
			{"POST", "/v1/shortlinks", post(`"short_key":"abcd"`), 409, ""},
			{"POST", "/v1/shortlinks", post(`"expires_at":"` + s.at(-time.Second) + `"`), 400, "expires_at"},
			{"POST", "/v1/shortlinks", post(`"expires_at":"` + s.at(0) + `"`), 400, "expires_at"},
			{"POST", "/v1/shortlinks", post(`"expires_at":"0001-01-01T00:00:00Z"`), 400, "expires_at"},
			{"POST", "/v1/shortlinks", post(`"expires_at":"0000-00-00T00:00:00Z"`), 400, "expires_at"},
			{"POST", "/v1/shortlinks", post(`"expires_at":"2026-03-24T13:30:00+02:00"`), 400, "expires_at"}, // half an hour ago
			{"POST", "/v1/shortlinks", post(`"expires_at":"2127-03-24T12:00:00Z"`), 400, "expires_at"},
			{"POST", "/v1/shortlinks", post(`"expires_at":"9999-12-31T23:59:59-23:59"`), 400, "expires_at"},
			{"POST", "/v1/shortlinks", post(`"expires_at":"10000-01-01T00:00:00Z"`), 400, "expires_at"},
			{"POST", "/v1/shortlinks", post(`"expires_at":"` + canary + `"`), 400, "expires_at"},
			{"POST", "/v1/shortlinks", post(`"expires_at":""`), 400, "expires_at"},
			{"POST", "/v1/shortlinks", post(`"expires_at":"2027-03-24"`), 400, "expires_at"},
			{"POST", "/v1/shortlinks", post(`"expires_at":"2027-03-24T12:00:00"`), 400, "expires_at"},
			{"POST", "/v1/shortlinks", post(`"expires_at":"2027-03-24 12:00:00Z"`), 400, "expires_at"},
			{"POST", "/v1/shortlinks", post(`"expires_at":"2027-02-29T12:00:00Z"`), 400, "expires_at"},
			{"POST", "/v1/shortlinks", post(`"expires_at":1799999999`), 400, "expires_at"},
			{"POST", "/v1/shortlinks", post(`"expires_at":{}`), 400, "expires_at"},
			{"POST", "/v1/shortlinks", post(`"ttl_seconds":0`), 400, "ttl_seconds"},
			{"POST", "/v1/shortlinks", post(`"ttl_seconds":-60`), 400, "ttl_seconds"},
			{"POST", "/v1/shortlinks", post(`"ttl_seconds":1.5`), 400, "ttl_seconds"},
			{"POST", "/v1/shortlinks", post(`"ttl_seconds":3153600001`), 400, "ttl_seconds"},
			{"POST", "/v1/shortlinks", post(`"ttl_seconds":18446744073709551617`), 400, "ttl_seconds"},
			{"POST", "/v1/shortlinks", post(`"ttl_seconds":"60"`), 400, "ttl_seconds"},
			{"POST", "/v1/shortlinks", post(`"ttl_seconds":60,"expires_at":"` + s.at(time.Minute) + `"`), 400, "ttl_seconds"},
			{"POST", "/v1/shortlinks", post(`"max_visits":0`), 400, "max_visits"},
			{"POST", "/v1/shortlinks", post(`"max_visits":-1`), 400, "max_visits"},
			{"POST", "/v1/shortlinks", post(`"max_visits":1.5`), 400, "max_visits"},
			{"POST", "/v1/shortlinks", post(`"max_visits":1000000001`), 400, "max_visits"},
			{"POST", "/v1/shortlinks", post(`"max_visits":"` + canary + `"`), 400, "max_visits"},
			{"POST", "/v1/shortlinks", post(`"title":7`), 400, "title"},
			{"POST", "/v1/shortlinks", post(`"title":"` + strings.Repeat(canary, 30) + `"`), 400, "title"},
			{"PATCH", at, ``, 400, "body"},
			{"PATCH", at, `[]`, 400, "body"},
			{"PATCH", at, `{"long_url":null}`, 400, "long_url"},
			{"PATCH", at, `{"title":"x","long_url":"javascript:` + canary + `"}`, 400, "long_url"},
			{"PATCH", at, `{"long_url":7}`, 400, "long_url"},
			{"PATCH", at, `{"disabled":null}`, 400, "disabled"},
			{"PATCH", at, `{"disabled":"` + canary + `"}`, 400, "disabled"},
			{"PATCH", at, `{"expires_at":"` + s.at(-time.Second) + `"}`, 400, "expires_at"},
			{"PATCH", at, `{"expires_at":"0001-01-01T00:00:00Z"}`, 400, "expires_at"},
			{"PATCH", at, `{"title":"x","expires_at":"` + canary + `"}`, 400, "expires_at"},
			{"PATCH", at, `{"max_visits":0}`, 400, "max_visits"},
			{"PATCH", at, `{"title":"` + strings.Repeat(canary, 30) + `"}`, 400, "title"},
			{"PATCH", at, `{"short_key":"` + canary + `"}`, 400, "body"},
			{"PATCH", at, `{"ttl_seconds":60}`, 400, "body"},
			{"PATCH", at, `{"visits":0}`, 400, "body"},
			{"GET", "/v1/shortlinks?limit=0", ``, 400, "query.limit"},
			{"GET", "/v1/shortlinks?limit=501", ``, 400, "query.limit"},
			{"GET", "/v1/shortlinks?limit=" + canary, ``, 400, "query.limit"},
			{"GET", "/v1/shortlinks?page_token=" + canary, ``, 400, "query.page_token"},
			{"GET", "/v1/shortlinks?page_token=e30=", ``, 400, "query.page_token"},
			{"GET", "/v1/shortlinks?page_token=" + strings.Repeat("A", 2000), ``, 400, "query.page_token"},
			{"GET", "/v1/shortlinks?page_token=eyJjcmVhdGVkX2F0IjoiMjAyNi0wMy0yNFQxMjowMDowMFoiLCJpZCI6ImEhIn0=", ``, 400, "query.page_token"}, // for the key "a!"
			{"GET", "/v1/shortlinks?status=" + canary, ``, 400, "query.status"},
			{"GET", "/v1/shortlinks?status=deleted", ``, 400, "query.status"},
			{"GET", "/v1/shortlinks?q=%zz" + canary, ``, 400, "query"},
			{"GET", at + "/stats?days=0", ``, 400, "query.days"},
			{"GET", at + "/stats?days=401", ``, 400, "query.days"},
			{"GET", at + "/stats?days=" + canary, ``, 400, "query.days"},
			{"GET", "/v1/shortlinks/" + canary, ``, 404, ""},
			{"GET", "/v1/shortlinks/ABCD", ``, 404, ""},
			{"GET", "/v1/shortlinks/abc", ``, 404, ""},
			{"GET", "/v1/shortlinks/%00%ff!", ``, 404, ""},
			{"GET", "/v1/shortlinks/" + strings.Repeat("k", 5000), ``, 404, ""},
			{"GET", "/v1/shortlinks/", ``, 404, ""},
			{"PATCH", "/v1/shortlinks/unknown", `{"title":"x"}`, 404, ""},
			{"PATCH", "/v1/shortlinks/%00", `{}`, 404, ""},
			{"DELETE", "/v1/shortlinks/unknown", ``, 404, ""},
			{"DELETE", "/v1/shortlinks/%ff%ff%ff%ff", ``, 404, ""},
			{"POST", "/v1/shortlinks/unknown/restore", ``, 404, ""},
			{"GET", "/v1/shortlinks/unknown/stats", ``, 404, ""},
			{"GET", "/v1/shortlinks/unknown/qr.svg", ``, 404, ""},
			{"GET", at + "/" + canary, ``, 404, ""},
			{"PUT", at, `{}`, 405, ""},
			{"DELETE", "/v1/shortlinks", ``, 405, ""},
			{"POST", at + "/stats", ``, 405, ""},
			{"GET", at + "/restore", ``, 405, ""},
			{"POST", "/v1/shortlinks", `{"long_url":"` + strings.Repeat("a", 1<<20) + `"}`, 413, ""},
		} {
			a := s.Do(c.method, c.path, c.body)
			slug := map[int]string{
				400: "invalid-request", 404: "not-found", 405: "method-not-allowed", 409: "conflict", 413: "too-large",
			}[c.status]
			if a.Status != c.status {
				s.Errorf("%.200s %.200s: %d, want %d: %s", a.Call, c.body, a.Status, c.status, a.Body)
				continue
			}
			a.Problem(c.status, slug, c.location)
			if strings.Contains(a.Body, canary) || strings.Contains(a.Body, "Go struct") || len(a.Body) > 1000 {
				s.Errorf("%s echoes what was sent: %s", a.Call, a.Body)
			}
		}
		if after := s.Do("GET", "/v1/shortlinks", "").Body; after != before {
			s.Errorf("a refused request changed something:\n%s\n%s", before, after)
		}
	})
}

func TestShortLinkMediaType(t *testing.T) {
	s := newServer(t)
	at := s.shorten("")
	for _, ct := range []string{"text/plain", "application/x-www-form-urlencoded", ""} {
		s.Send("POST", "/v1/shortlinks", ct, `{"long_url":"https://a.test"}`).Problem(http.StatusUnsupportedMediaType, "unsupported-media-type", "")
		s.Send("PATCH", at, ct, `{}`).Problem(http.StatusUnsupportedMediaType, "unsupported-media-type", "")
	}
}
