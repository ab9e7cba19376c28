package shortlinks_test

import (
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
)

func TestAddShortLink(t *testing.T) {
	each(t, func(s *server) {
		a := s.Do("POST", "/v1/shortlinks", `{"long_url":"HTTPS://Example.com:443/path/?a=1#section","short_key":"My-key_1",
			"expires_at":"2026-03-24T15:00:00.5+02:00","max_visits":3,"title":" Spring  campaign "}`)
		got := a.Want(http.StatusCreated)
		want := map[string]any{
			"short_key": "My-key_1", "short_url": s.URL + "/s/My-key_1", "short_host_url": nil, "long_url": "HTTPS://Example.com:443/path/?a=1#section",
			"title": "Spring campaign", "created_at": "2026-03-24T12:00:00Z", "updated_at": "2026-03-24T12:00:00Z",
			"expires_at": "2026-03-24T13:00:00.5Z", "max_visits": 3.0, "visits": 0.0, "bots": 0.0, "previews": 0.0, "last_visited_at": nil, "status": "active",
			"owner": "system", "private": false,
		}
		const at = "/v1/shortlinks/My-key_1"
		if !reflect.DeepEqual(got, want) || a.Header.Get("Location") != at {
			s.Errorf("got  %v, %q\nwant %v", got, a.Header.Get("Location"), want)
		}
		if now := s.Do("GET", at, "").Want(200); !reflect.DeepEqual(now, want) {
			s.Errorf("and then it is %v", now)
		}
		s.Do("HEAD", at, "").Want(200)
		s.Do("GET", "/api"+at, "").Want(200)
		s.Do("GET", strings.ToLower(at), "").Problem(404, "not-found", "")

		plain := s.Do("POST", "/v1/shortlinks", `{"long_url":"http://plain.test","short_key":null,"expires_at":null,"ttl_seconds":null,"max_visits":null,"title":null}`).
			Want(http.StatusCreated)
		apptest.Has(s.TB, plain, map[string]any{"title": "", "expires_at": nil, "max_visits": nil, "status": "active"})
		key := fmt.Sprint(plain["short_key"])
		if !regexp.MustCompile(`^[2-9A-HJ-NP-Za-hjkmnp-z]{7}$`).MatchString(key) || plain["short_url"] != s.URL+"/s/"+key {
			s.Errorf("the key that was made up is %q, its address %v", key, plain["short_url"])
		}
		apptest.Has(s.TB, s.Do("POST", "/v1/shortlinks", `{"long_url":"http://plain.test","ttl_seconds":90}`).Want(http.StatusCreated),
			map[string]any{"expires_at": "2026-03-24T12:01:30Z"})
		apptest.Has(s.TB, s.Do("POST", "/v1/shortlinks", `{"long_url":"http://plain.test","ttl_seconds":3153600000,"expires_at":null}`).Want(http.StatusCreated),
			map[string]any{"expires_at": "2126-02-28T12:00:00Z"})
		apptest.Has(s.TB, s.Do("POST", "/v1/shortlinks", `{"long_url":"http://plain.test","title":"2026-04-24t12:00:00z","expires_at":"2026-04-24t12:00:00z"}`).Want(http.StatusCreated),
			map[string]any{"title": "2026-04-24t12:00:00z", "expires_at": "2026-04-24T12:00:00Z"}) // RFC 3339, 5.6
		for _, key := range []string{"kkkk", strings.Repeat("-", 64)} {
			s.shorten(`"short_key":"` + key + `"`)
		}
	})
}

// TestShortLinkAddresses: short_url starts with PUBLIC_URL. SHORT_HOST adds short_host_url with the
// same port.
func TestShortLinkAddresses(t *testing.T) {
	for _, c := range []struct {
		publicURL, shortHost string
		short, atItsOwn      any
	}{
		{"https://links.example", "", "https://links.example/s/abcd", nil},
		{"https://links.example:8443", "go.example", "https://links.example:8443/s/abcd", "https://go.example:8443/abcd"},
		{"https://links.example", "go.example", "https://links.example/s/abcd", "https://go.example/abcd"},
		{"", "go.example", "", ""},
	} {
		s := newServer(t, apptest.Set("PUBLIC_URL", c.publicURL), apptest.Set("SHORT_HOST", c.shortHost))
		if c.short == "" {
			c.short, c.atItsOwn = s.URL+"/s/abcd", strings.Replace(s.URL, "127.0.0.1", "go.example", 1)+"/abcd"
		}
		at := s.shorten(`"short_key":"abcd"`)
		for _, got := range []map[string]any{
			s.Do("GET", at, "").Want(200), apptest.Items(s.Do("GET", "/v1/shortlinks", "").Want(200))[0], s.Do("PATCH", at, `{}`).Want(200),
		} {
			if got["short_url"] != c.short || got["short_host_url"] != c.atItsOwn {
				t.Errorf("%q and %q: got %v and %v", c.publicURL, c.shortHost, got["short_url"], got["short_host_url"])
			}
		}
	}
}

func TestShortLinkStatus(t *testing.T) {
	each(t, func(s *server) {
		s.shorten(`"short_key":"forever"`)
		s.shorten(`"short_key":"minute","ttl_seconds":60`)
		s.shorten(`"short_key":"once","max_visits":1`)
		s.shorten(`"short_key":"off-min","ttl_seconds":60`)
		s.Do("PATCH", "/v1/shortlinks/off-min", `{"disabled":true}`).Want(200)
		s.visit("once", "", "")
		status := func(want string) {
			s.Helper()
			list := s.Do("GET", "/v1/shortlinks", "").Want(200)
			if got := apptest.Column(list, "short_key") + ": " + apptest.Column(list, "status"); got != "forever minute off-min once: "+want {
				s.Errorf("%s, want %s", got, want)
			}
			for _, l := range apptest.Items(list) {
				apptest.Has(s.TB, s.Do("GET", "/v1/shortlinks/"+fmt.Sprint(l["short_key"]), "").Want(200), map[string]any{"status": l["status"]})
			}
		}
		status("active active disabled expired")
		s.Clock.Advance(time.Minute - time.Microsecond)
		status("active active disabled expired")
		s.Clock.Advance(time.Microsecond)
		status("active expired disabled expired")
		apptest.Has(s.TB, s.Do("PATCH", "/v1/shortlinks/minute", `{"expires_at":"`+s.at(time.Hour)+`"}`).Want(200), map[string]any{"status": "active"})
		apptest.Has(s.TB, s.Do("PATCH", "/v1/shortlinks/once", `{"max_visits":2}`).Want(200), map[string]any{"status": "active", "visits": 1.0})
		apptest.Has(s.TB, s.Do("PATCH", "/v1/shortlinks/off-min", `{"disabled":false}`).Want(200), map[string]any{"status": "expired"})
		status("active active expired active")
	})
}

func TestFilterShortLinks(t *testing.T) {
	each(t, func(s *server) {
		s.shorten(`"short_key":"aaaa","title":"Straße"`)
		s.shorten(`"short_key":"bb_b","ttl_seconds":60`)
		s.Do("POST", "/v1/shortlinks", `{"long_url":"https://other.test/50%25","short_key":"cccc"}`).Want(http.StatusCreated)
		s.shorten(`"short_key":"dddd"`)
		s.Do("PATCH", "/v1/shortlinks/dddd", `{"disabled":true}`).Want(200)
		s.Clock.Advance(time.Hour)
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
			if got := apptest.Column(s.Do("GET", "/v1/shortlinks?"+query, "").Want(200), "short_key"); got != want {
				s.Errorf("%s: %q, want %q", query, got, want)
			}
		}
		if body := s.Do("GET", "/v1/shortlinks?q=nothing", "").Body; !strings.Contains(body, `"items":[]`) || !strings.Contains(body, `"next_page_token":""`) {
			s.Errorf("an empty page: %s", body)
		}
	})
}

func TestPatchShortLink(t *testing.T) {
	each(t, func(s *server) {
		at := s.shorten(`"short_key":"abcd","title":"first"`)
		s.Clock.Advance(time.Minute)
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
			got := s.Do("PATCH", at, c.body).Want(200)
			apptest.Has(s.TB, got, c.want)
			if now := s.Do("GET", at, "").Want(200); !reflect.DeepEqual(now, got) {
				s.Errorf("%s answered %v, and then the short link is %v", c.body, got, now)
			}
		}
		// An expiry in the past can stay, but cannot be set.
		s.Do("PATCH", at, `{"expires_at":"`+s.at(time.Minute)+`"}`).Want(200)
		end := s.at(time.Minute)
		s.Clock.Advance(time.Hour)
		apptest.Has(s.TB, s.Do("PATCH", at, `{"title":"late","expires_at":"`+end+`"}`).Want(200), map[string]any{"title": "late", "status": "expired"})
		s.Do("PATCH", at, `{"expires_at":"`+s.at(-time.Minute)+`"}`).Problem(400, "invalid-request", "expires_at")
	})
}

func TestDeleteAndRestoreShortLink(t *testing.T) {
	each(t, func(s *server) {
		at := s.shorten(`"short_key":"abcd","title":"kept"`)
		s.Do("POST", at+"/restore", "").Problem(404, "not-found", "")
		s.visit("abcd", "", "")
		s.writeVisits()
		if a := s.Do("DELETE", at, ""); a.Status != http.StatusNoContent || a.Body != "" {
			s.Errorf("%d %s", a.Status, a.Body)
		}
		for _, call := range []string{"GET ", "DELETE ", "GET /stats", "GET /qr.svg"} {
			method, path, _ := strings.Cut(call, " ")
			s.Do(method, at+path, "").Problem(404, "not-found", "")
		}
		s.Do("PATCH", at, `{"title":"x"}`).Problem(404, "not-found", "")
		if n := len(apptest.Items(s.Do("GET", "/v1/shortlinks", "").Want(200))); n != 0 {
			s.Errorf("%d short links are listed", n)
		}
		s.Do("POST", "/v1/shortlinks", `{"long_url":"https://b.test","short_key":"abcd"}`).Problem(409, "conflict", "")
		s.Clock.Advance(24 * time.Hour)
		apptest.Has(s.TB, s.Do("POST", at+"/restore", "").Want(200), map[string]any{
			"short_key": "abcd", "short_url": s.URL + "/s/abcd", "title": "kept", "visits": 1.0, "status": "active",
		})
		s.Do("POST", at+"/restore", "").Problem(404, "not-found", "")
		s.Do("DELETE", at, "").Want(http.StatusNoContent)
		s.Clock.Advance(24*time.Hour + time.Microsecond)
		s.Do("POST", at+"/restore", "").Problem(404, "not-found", "")
	})
}
