package handlers_test

import (
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"linkwatch/handlers"
	"linkwatch/handlers/middleware"
	"linkwatch/models/modelstest"
)

// shorten makes a short link and answers its address in the API. body is the
// members beside long_url: `"short_key":"abcd","max_visits":1`.
func (s *server) shorten(body string) string {
	s.t.Helper()
	if body != "" {
		body = "," + body
	}
	a := s.do("POST", "/v1/shortlinks", `{"long_url":"https://example.com/page"`+body+`}`)
	a.want(http.StatusCreated)
	return a.header.Get("Location")
}

// at describes an instant from now on by the server's clock.
func (s *server) at(d time.Duration) string { return s.clock.Now().Add(d).Format(time.RFC3339) }

func TestAddShortLink(t *testing.T) {
	eachEngine(t, func(s *server) {
		a := s.do("POST", "/v1/shortlinks", `{"long_url":"HTTPS://Example.com:443/path/?a=1#section","short_key":"My-key_1",
			"expires_at":"2026-03-24T15:00:00.5+02:00","max_visits":3,"title":" Spring  campaign "}`)
		got := a.want(http.StatusCreated)
		want := map[string]any{
			"short_key": "My-key_1", "short_url": s.url + "/s/My-key_1", "short_host_url": nil, "long_url": "HTTPS://Example.com:443/path/?a=1#section",
			"title": "Spring campaign", "created_at": "2026-03-24T12:00:00Z", "updated_at": "2026-03-24T12:00:00Z",
			"expires_at": "2026-03-24T13:00:00.5Z", "max_visits": 3.0, "visits": 0.0, "bots": 0.0, "last_visited_at": nil, "status": "active",
		}
		const at = "/v1/shortlinks/My-key_1"
		if !reflect.DeepEqual(got, want) || a.header.Get("Location") != at {
			s.t.Errorf("got  %v, %q\nwant %v", got, a.header.Get("Location"), want)
		}
		if now := s.do("GET", at, "").want(200); !reflect.DeepEqual(now, want) {
			s.t.Errorf("and then it is %v", now)
		}
		s.do("HEAD", at, "").want(200)
		s.do("GET", "/api"+at, "").want(200)
		s.do("GET", strings.ToLower(at), "").problem(404, "not-found", "")

		plain := s.do("POST", "/v1/shortlinks", `{"long_url":"http://plain.test","short_key":null,"expires_at":null,"ttl_seconds":null,"max_visits":null,"title":null}`).
			want(http.StatusCreated)
		has(s.t, plain, map[string]any{"title": "", "expires_at": nil, "max_visits": nil, "status": "active"})
		key := fmt.Sprint(plain["short_key"])
		if !regexp.MustCompile(`^[2-9A-HJ-NP-Za-hjkmnp-z]{7}$`).MatchString(key) || plain["short_url"] != s.url+"/s/"+key {
			s.t.Errorf("the key that was made up is %q, its address %v", key, plain["short_url"])
		}
		has(s.t, s.do("POST", "/v1/shortlinks", `{"long_url":"http://plain.test","ttl_seconds":90}`).want(http.StatusCreated),
			map[string]any{"expires_at": "2026-03-24T12:01:30Z"})
		has(s.t, s.do("POST", "/v1/shortlinks", `{"long_url":"http://plain.test","ttl_seconds":3153600000,"expires_at":null}`).want(http.StatusCreated),
			map[string]any{"expires_at": "2126-02-28T12:00:00Z"})
		for _, key := range []string{"kkkk", strings.Repeat("-", 64)} {
			s.shorten(`"short_key":"` + key + `"`)
		}
	})
}

// TestShortLinkAddresses: short_url is below PUBLIC_URL, and a SHORT_HOST adds another address,
// at the same port.
func TestShortLinkAddresses(t *testing.T) {
	for _, c := range []struct {
		addresses       middleware.Addresses
		short, atItsOwn any
	}{
		{middleware.Addresses{PublicURL: "https://links.example"}, "https://links.example/s/abcd", nil},
		{middleware.Addresses{PublicURL: "https://links.example:8443", ShortHost: "go.example"}, "https://links.example:8443/s/abcd", "https://go.example:8443/abcd"},
		{middleware.Addresses{PublicURL: "https://links.example", ShortHost: "go.example"}, "https://links.example/s/abcd", "https://go.example/abcd"},
		{middleware.Addresses{ShortHost: "go.example"}, "", ""},
	} {
		s := newServerOn(t, modelstest.New(t), func(d *handlers.Deps) { d.Addresses = c.addresses })
		if c.short == "" {
			c.short, c.atItsOwn = s.url+"/s/abcd", strings.Replace(s.url, "127.0.0.1", "go.example", 1)+"/abcd"
		}
		at := s.shorten(`"short_key":"abcd"`)
		for _, got := range []map[string]any{
			s.do("GET", at, "").want(200), items(s.do("GET", "/v1/shortlinks", "").want(200))[0], s.do("PATCH", at, `{}`).want(200),
		} {
			if got["short_url"] != c.short || got["short_host_url"] != c.atItsOwn {
				t.Errorf("%+v: %v and %v", c.addresses, got["short_url"], got["short_host_url"])
			}
		}
	}
}

func TestShortLinkStatus(t *testing.T) {
	eachEngine(t, func(s *server) {
		s.shorten(`"short_key":"forever"`)
		s.shorten(`"short_key":"minute","ttl_seconds":60`)
		s.shorten(`"short_key":"once","max_visits":1`)
		s.shorten(`"short_key":"off-min","ttl_seconds":60`)
		s.do("PATCH", "/v1/shortlinks/off-min", `{"disabled":true}`).want(200)
		s.visit("once", "", "")
		status := func(want string) {
			s.t.Helper()
			list := s.do("GET", "/v1/shortlinks", "").want(200)
			if got := column(list, "short_key") + ": " + column(list, "status"); got != "forever minute off-min once: "+want {
				s.t.Errorf("%s, want %s", got, want)
			}
			for _, l := range items(list) {
				has(s.t, s.do("GET", "/v1/shortlinks/"+fmt.Sprint(l["short_key"]), "").want(200), map[string]any{"status": l["status"]})
			}
		}
		status("active active disabled expired")
		s.clock.Advance(time.Minute - time.Microsecond)
		status("active active disabled expired")
		s.clock.Advance(time.Microsecond)
		status("active expired disabled expired")
		has(s.t, s.do("PATCH", "/v1/shortlinks/minute", `{"expires_at":"`+s.at(time.Hour)+`"}`).want(200), map[string]any{"status": "active"})
		has(s.t, s.do("PATCH", "/v1/shortlinks/once", `{"max_visits":2}`).want(200), map[string]any{"status": "active", "visits": 1.0})
		has(s.t, s.do("PATCH", "/v1/shortlinks/off-min", `{"disabled":false}`).want(200), map[string]any{"status": "expired"})
		status("active active expired active")
	})
}

func TestFilterShortLinks(t *testing.T) {
	eachEngine(t, func(s *server) {
		s.shorten(`"short_key":"aaaa","title":"Straße"`)
		s.shorten(`"short_key":"bb_b","ttl_seconds":60`)
		s.do("POST", "/v1/shortlinks", `{"long_url":"https://other.test/50%25","short_key":"cccc"}`).want(http.StatusCreated)
		s.shorten(`"short_key":"dddd"`)
		s.do("PATCH", "/v1/shortlinks/dddd", `{"disabled":true}`).want(200)
		s.clock.Advance(time.Hour)
		for query, want := range map[string]string{
			"":                        "aaaa bb_b cccc dddd",
			"status=active":           "aaaa cccc",
			"status=expired":          "bb_b",
			"status=disabled":         "dddd",
			"q=strasse":               "aaaa",
			"q=B_B":                   "bb_b",
			"q=a_a":                   "",
			"q=50%25":                 "cccc",
			"q=example.com&limit=2":   "aaaa bb_b",
			"status=active&q=other":   "cccc",
			"status=&q=&page_token=":  "aaaa bb_b cccc dddd",
			"status=expired&q=strass": "",
			"q=%ff":                   "",
		} {
			if got := column(s.do("GET", "/v1/shortlinks?"+query, "").want(200), "short_key"); got != want {
				s.t.Errorf("%s: %q, want %q", query, got, want)
			}
		}
		if body := s.do("GET", "/v1/shortlinks?q=nothing", "").body; !strings.Contains(body, `"items":[]`) || !strings.Contains(body, `"next_page_token":""`) {
			s.t.Errorf("an empty page: %s", body)
		}
	})
}

func TestPatchShortLink(t *testing.T) {
	eachEngine(t, func(s *server) {
		at := s.shorten(`"short_key":"abcd","title":"first"`)
		s.clock.Advance(time.Minute)
		for _, c := range []struct {
			body string
			want map[string]any
		}{
			{`{}`, map[string]any{"title": "first", "long_url": "https://example.com/page"}},
			{`{"title":"Shop"}`, map[string]any{"title": "Shop", "expires_at": nil}},
			{`{"expires_at":"` + s.at(time.Hour) + `"}`, map[string]any{"title": "Shop", "expires_at": s.at(time.Hour)}},
			{`{"max_visits":5}`, map[string]any{"max_visits": 5.0, "expires_at": s.at(time.Hour)}},
			{`{"title":null}`, map[string]any{"title": "", "max_visits": 5.0}},
			{`{"max_visits":null}`, map[string]any{"max_visits": nil, "expires_at": s.at(time.Hour)}},
			{`{"expires_at":null}`, map[string]any{"expires_at": nil, "long_url": "https://example.com/page"}},
			{`{"long_url":"http://other.test/x"}`, map[string]any{"long_url": "http://other.test/x", "status": "active"}},
			{`{"disabled":true,"title":"Off"}`, map[string]any{"status": "disabled", "title": "Off", "long_url": "http://other.test/x"}},
			{`{"disabled":true}`, map[string]any{"status": "disabled"}},
			{`{"title":"still"}`, map[string]any{"status": "disabled", "title": "still"}},
			{`{"disabled":false}`, map[string]any{"status": "active", "title": "still", "short_key": "abcd", "created_at": "2026-03-24T12:00:00Z"}},
		} {
			got := s.do("PATCH", at, c.body).want(200)
			has(s.t, got, c.want)
			if now := s.do("GET", at, "").want(200); !reflect.DeepEqual(now, got) {
				s.t.Errorf("%s answered %v, and then the short link is %v", c.body, got, now)
			}
		}
		// What has passed may stay as it is, but not be chosen.
		s.do("PATCH", at, `{"expires_at":"`+s.at(time.Minute)+`"}`).want(200)
		end := s.at(time.Minute)
		s.clock.Advance(time.Hour)
		has(s.t, s.do("PATCH", at, `{"title":"late","expires_at":"`+end+`"}`).want(200), map[string]any{"title": "late", "status": "expired"})
		s.do("PATCH", at, `{"expires_at":"`+s.at(-time.Minute)+`"}`).problem(400, "invalid-request", "expires_at")
	})
}

func TestDeleteAndRestoreShortLink(t *testing.T) {
	eachEngine(t, func(s *server) {
		at := s.shorten(`"short_key":"abcd","title":"kept"`)
		s.do("POST", at+"/restore", "").problem(404, "not-found", "")
		s.visit("abcd", "", "")
		s.writeVisits()
		if a := s.do("DELETE", at, ""); a.status != http.StatusNoContent || a.body != "" {
			s.t.Errorf("%d %s", a.status, a.body)
		}
		for _, call := range []string{"GET ", "DELETE ", "GET /stats", "GET /qr.svg"} {
			method, path, _ := strings.Cut(call, " ")
			s.do(method, at+path, "").problem(404, "not-found", "")
		}
		s.do("PATCH", at, `{"title":"x"}`).problem(404, "not-found", "")
		if n := len(items(s.do("GET", "/v1/shortlinks", "").want(200))); n != 0 {
			s.t.Errorf("%d short links are listed", n)
		}
		s.do("POST", "/v1/shortlinks", `{"long_url":"https://b.test","short_key":"abcd"}`).problem(409, "conflict", "")
		s.clock.Advance(24 * time.Hour)
		has(s.t, s.do("POST", at+"/restore", "").want(200), map[string]any{
			"short_key": "abcd", "short_url": s.url + "/s/abcd", "title": "kept", "visits": 1.0, "status": "active",
		})
		s.do("POST", at+"/restore", "").problem(404, "not-found", "")
		s.do("DELETE", at, "").want(http.StatusNoContent)
		s.clock.Advance(24*time.Hour + time.Microsecond)
		s.do("POST", at+"/restore", "").problem(404, "not-found", "")
	})
}
