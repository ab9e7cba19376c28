package handlers_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
)

// TestURLStandard sends the test vectors of the URL standard to all operations
// that take a URL.
func TestURLStandard(t *testing.T) {
	b, err := os.ReadFile("../models/testdata/wpt/urls.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Input, Hostname string
		Failure         bool
	}
	if err := json.Unmarshal(b, &vectors); err != nil || len(vectors) < 300 {
		t.Fatalf("got %d vectors, %v", len(vectors), err)
	}
	apptest.EachEngine(t, func(s *apptest.App) {
		var pages []string
		for _, v := range vectors {
			in := strings.NewReplacer("wss://", "https://", "ws://", "http://").Replace(v.Input)
			_, rest, _ := strings.Cut(in, "://")
			hasUser := strings.Contains(rest[:max(0, strings.IndexAny(rest+"/", `/\?#`))], "@")
			for path, member := range map[string]string{"/v1/targets": "url", "/v1/links": "url", "/v1/shortlinks": "long_url"} {
				body, err := json.Marshal(map[string]string{member: in})
				s.Must(err)
				a := s.Do("POST", path, string(body))
				switch {
				case v.Failure || hasUser:
					a.Problem(400, "invalid-request", member)
				case a.Status != 201 && a.Status != 200:
					t.Errorf("POST %s %s: got %d, %s", path, body, a.Status, a.Body)
				case path == "/v1/targets" && a.Want(a.Status)["host"] != strings.Trim(v.Hostname, "[]"):
					t.Errorf("POST %s %s: got %s, want the host %q", path, body, a.Body, v.Hostname)
				case path == "/v1/shortlinks":
					key := a.Want(a.Status)["short_key"].(string)
					pages = append(pages, "/short/"+key)
					if strings.Contains(v.Hostname, "`") { // the client of this test cannot read such a Location
						continue
					}
					if to := s.Request("GET", "/s/"+key); to.Status != http.StatusFound || to.Header.Get("Location") == "" {
						t.Errorf("%s: got %d to %q", body, to.Status, to.Header.Get("Location"))
					}
				case path == "/v1/targets":
					pages = append(pages, "/watch/"+a.Want(a.Status)["id"].(string))
				default:
					pages = append(pages, "/links/"+a.Want(a.Status)["id"].(string))
				}
			}
		}
		for _, page := range append(pages, "/", "/links", "/watch", "/short", "/v1/links?per_page=100", "/v1/targets?limit=500", "/v1/shortlinks?limit=500") {
			if a := s.Request("GET", page); a.Status != 200 {
				t.Errorf("%s: got %d", page, a.Status)
			}
		}
	})
}

func TestURLInput(t *testing.T) {
	apptest.EachEngine(t, func(s *apptest.App) {
		post := func(path, member, value string) apptest.Response {
			body, err := json.Marshal(map[string]string{member: value})
			s.Must(err)
			return s.Do("POST", path, string(body))
		}
		for in, want := range map[string]string{
			"http://canon.test/foo%":                  "http://canon.test/foo%25",
			"http://canon.test/p?a #f":                "http://canon.test/p?a",
			"http://canon.test/p?b\u00a0#f":           "http://canon.test/p?b",
			"http://canon.test/p?c\u3000\u2028#f":     "http://canon.test/p?c",
			"http://can\ton.test/line\r\nbreak\x00\n": "http://canon.test/linebreak",
			"http://canon.test/a\x00b":                "http://canon.test/a%00b",
			"http://127.1/":                           "http://127.0.0.1",
			"http://0x7f.1/a":                         "http://127.0.0.1/a",
			"http://1":                                "http://0.0.0.1",
			"http://İ.example/":                       "http://xn--i-9bb.example",
			"http://i.example/":                       "http://i.example",
			`http://canon.test\a\..\b`:                "http://canon.test/b",
		} {
			for _, path := range []string{"/v1/targets", "/v1/links"} {
				first := post(path, "url", in).Want(201)
				if first["canonical_url"] != want {
					t.Errorf("POST %s %q: got %v, want %q", path, in, first["canonical_url"], want)
				}
				if again := post(path, "url", want).Want(200); again["id"] != first["id"] || again["canonical_url"] != want {
					t.Errorf("POST %s %q: got %v, want the same as for %q", path, want, again, in)
				}
			}
			post("/v1/shortlinks", "long_url", in).Want(201)
		}
		for _, in := range []string{
			"http://127.0.0.0.33/", "http://256.1.1.1/", "http://foo.0x4/", "http:/host.test/", `http:\\host.test\`, "localhost:3000/x", "example.com/x", "http://@host.test/", "http://a b/", "//host.test/", "http:///host.test",
		} {
			post("/v1/targets", "url", in).Problem(400, "invalid-request", "url")
			post("/v1/links", "url", in).Problem(400, "invalid-request", "url")
			post("/v1/shortlinks", "long_url", in).Problem(400, "invalid-request", "long_url")
		}
		for host, n := range map[string]int{"127.1": 2, "127.0.0.1": 2, "xn--i-9bb.example": 1, "İ.example": 1, "I.example": 1, "256.1.1.1": 0, `canon.test\x`: 0, "CANON.test": 7} {
			if got := s.Do("GET", "/v1/targets?host="+url.QueryEscape(host), "").Want(200)["items"].([]any); len(got) != n {
				t.Errorf("got %d targets with host %q, want %d", len(got), host, n)
			}
		}
	})
}

// TestOldURLs: URLs that were stored under older rules are shown, and cause no errors.
func TestOldURLs(t *testing.T) {
	apptest.EachEngine(t, func(s *apptest.App) {
		link, target := s.Save("https://old.test/").ID, s.Watch("https://old.test/", "").ID
		key := s.Do("POST", "/v1/shortlinks", `{"long_url":"https://old.test/", "max_visits": 9}`).Want(201)["short_key"].(string)
		const old = "http://256.1.1.1/%zz a"
		modelstest.Exec(t, s.DB, "UPDATE links SET url = ?, canonical_url = ?, health = 'moved', moved_to = 'http://foo.0x4/'", old, old)
		modelstest.Exec(t, s.DB, "UPDATE targets SET url = ?, canonical_url = ?", old, old)
		modelstest.Exec(t, s.DB, "UPDATE short_links SET long_url = ?, canonical_url = ?", old, old)
		s.Clock.Advance(time.Minute) // until the cache entry is stale
		s.Web.Set(old, &links.FetchError{Reason: "invalid URL"})
		for _, page := range []string{
			"/", "/links", "/watch", "/short", "/links/" + link, "/watch/" + target, "/short/" + key, "/v1/links", "/v1/targets", "/v1/shortlinks", "/v1/link/" + link,
			"/v1/targets/" + target, "/v1/shortlinks/" + key, "/v1/search?q=256.1", "/v1/targets?host=256.1.1.1",
		} {
			if a := s.Request("GET", page); a.Status != 200 {
				t.Errorf("%s: got %d, %s", page, a.Status, a.Body)
			}
		}
		if a := s.Request("GET", "/s/"+key); a.Status != 410 {
			t.Errorf("redirect: got %d", a.Status)
		}
		if a := s.Request("GET", "/s/"+key+"?preview=1"); a.Status != 410 {
			t.Errorf("preview: got %d", a.Status)
		}
		s.Do("PATCH", "/v1/shortlinks/"+key, `{"title":"new"}`).Want(200)
		s.Do("PATCH", "/v1/targets/"+target, `{"name":"new"}`).Want(200)
		s.Do("POST", "/v1/link/"+link+"/move", "").Problem(400, "invalid-request", "url")
		s.Do("PUT", "/v1/link/"+link, "").Want(200)
	})
}

// TestFormsRepairURLs: forms complete URLs, the API does not.
func TestFormsRepairURLs(t *testing.T) {
	s := apptest.New(t)
	for in, want := range map[string]string{
		"http:/slash.test/a": "http://slash.test/a", `http:\\back.test\a`: "http://back.test/a", "localhost:3000/x": "http://localhost:3000/x",
		"bare.test/x": "https://bare.test/x", "127.0.0.1:8080": "http://127.0.0.1:8080", "[::1]:80/x": "http://[::1]/x", "//double.test": "https://double.test",
	} {
		s.Follow("/links", url.Values{"url": {in}})
		s.Follow("/watch", url.Values{"url": {in}})
		s.Follow("/short", url.Values{"long_url": {in}})
		_, linked, err := s.Links.ByURL(t.Context(), want)
		if err != nil || !linked {
			t.Errorf("%q: got no link to %q, %v", in, want, err)
		}
		_, watched, err := s.Targets.ByURL(t.Context(), want)
		if err != nil || !watched {
			t.Errorf("%q: got no target %q, %v", in, want, err)
		}
	}
	key := s.Follow("/short", url.Values{"long_url": {"https://example.com/"}, "short_key": {"edited"}})
	apptest.WantStatus(t, key, 200)
	s.Follow("/short/edited", url.Values{"long_url": {"bare.test/edited"}})
	for _, in := range []string{"mailto:x@example.com", "javascript:alert(1)", "ftp://example.com/", "user@host.test", "foo bar", "foo"} {
		for path, field := range map[string]string{"/links": "url", "/watch": "url", "/short": "long_url"} {
			a := s.Post(path, url.Values{field: {in}})
			apptest.WantStatus(t, a, http.StatusBadRequest)
			apptest.WantText(t, a, "#url-error", "URL must start with http:// or https://.")
			if got := a.Find("input[name="+field+"]").First().AttrOr("value", ""); got != in {
				t.Errorf("%s: %q: got %q in the form", path, in, got)
			}
		}
	}
}
