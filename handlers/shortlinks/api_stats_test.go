package shortlinks_test

import (
	"bytes"
	"cmp"
	"net/http"
	"reflect"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/views/qr"
)

const (
	byDesktop = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36"
	byMobile  = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1"
	byTablet  = "Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.6 Mobile/15E148 Safari/604.1"
	byChat    = "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"
	byBot     = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
)

func TestShortLinkStats(t *testing.T) {
	each(t, func(s *server) {
		at := s.shorten(`"short_key":"abcd"`)
		empty := s.Do("GET", at+"/stats", "").Want(200)
		apptest.Has(s.TB, empty, map[string]any{
			"short_key": "abcd", "visits": 0.0, "bots": 0.0, "previews": 0.0, "last_visited_at": nil, "referrers": []any{},
			"devices": map[string]any{"desktop": 0.0, "mobile": 0.0, "tablet": 0.0, "other": 0.0},
		})
		if len(empty) != 8 {
			s.Errorf("members %v", empty)
		}
		if days := apptest.Objects(empty["days"]); len(days) != 30 || days[0]["date"] != "2026-02-23" || days[29]["date"] != "2026-03-24" {
			s.Errorf("days %v", days)
		}

		s.visit("abcd", byDesktop, "https://news.example/item?id=1")
		s.visit("abcd", byMobile, "https://news.example/other")
		s.visit("abcd", byBot, "https://bots.example/")
		s.visit("abcd", byChat, "https://chat.example/")
		s.visit("abcd", byChat, "")
		s.Clock.Advance(24 * time.Hour)
		s.visit("abcd", byTablet, "https://social.example/")
		s.visit("abcd", "", "")
		s.writeVisits()
		s.Clock.Advance(24 * time.Hour)
		s.visit("abcd", byBot, "")
		s.writeVisits()
		day := func(date string, bots, previews, desktop, mobile, tablet, other float64) map[string]any {
			return map[string]any{
				"date": date, "visits": desktop + mobile + tablet + other,
				"bots": bots, "previews": previews, "desktop": desktop, "mobile": mobile, "tablet": tablet, "other": other,
			}
		}
		got := s.Do("GET", at+"/stats?days=3", "").Want(200)
		apptest.Has(s.TB, got, map[string]any{
			"visits": 4.0, "bots": 2.0, "previews": 2.0, "last_visited_at": "2026-03-25T12:00:00Z",
			"days": []any{
				day("2026-03-24", 1, 2, 1, 1, 0, 0), day("2026-03-25", 0, 0, 0, 0, 1, 1), day("2026-03-26", 1, 0, 0, 0, 0, 0),
			},
			"devices": map[string]any{"desktop": 1.0, "mobile": 1.0, "tablet": 1.0, "other": 1.0},
			"referrers": []any{
				map[string]any{"host": "news.example", "visits": 2.0},
				map[string]any{"host": nil, "visits": 1.0},
				map[string]any{"host": "social.example", "visits": 1.0},
			},
		})
		apptest.Has(s.TB, s.Do("GET", at, "").Want(200), map[string]any{"visits": 4.0, "bots": 2.0, "previews": 2.0, "last_visited_at": "2026-03-25T12:00:00Z"})

		last := s.Do("GET", at+"/stats?days=1", "").Want(200)
		apptest.Has(s.TB, last, map[string]any{
			"visits": 4.0, "days": []any{day("2026-03-26", 1, 0, 0, 0, 0, 0)}, "referrers": got["referrers"],
			"devices": map[string]any{"desktop": 0.0, "mobile": 0.0, "tablet": 0.0, "other": 0.0},
		})
		if n := len(apptest.Objects(s.Do("GET", at+"/stats?days=400", "").Want(200)["days"])); n != 400 {
			s.Errorf("%d days, want 400", n)
		}
	})
}

func TestShortLinkQR(t *testing.T) {
	for _, c := range []struct{ publicURL, shortHost, address string }{
		{"", "", ""},
		{"https://links.example", "", "https://links.example/s/abcd"},
		{"https://links.example", "go.example", "https://go.example/abcd"},
	} {
		s := newServer(t, apptest.Set("PUBLIC_URL", c.publicURL), apptest.Set("SHORT_HOST", c.shortHost))
		at := s.shorten(`"short_key":"abcd","ttl_seconds":60`)
		address := cmp.Or(c.address, s.URL+"/s/abcd")
		want, err := qr.SVG(address)
		s.Must(err)
		a := s.Do("GET", at+"/qr.svg", "")
		if a.Status != http.StatusOK || !bytes.Equal([]byte(a.Body), want) {
			t.Errorf("%+v: got %d, %s, want the code of %s", c, a.Status, a.Body, address)
		}
		type headers struct{ Type, Caching, Sniffing string }
		got := headers{a.Header.Get("Content-Type"), a.Header.Get("Cache-Control"), a.Header.Get("X-Content-Type-Options")}
		if want := (headers{"image/svg+xml", "no-store", "nosniff"}); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
		s.Clock.Advance(time.Hour)
		if a := s.Do("GET", at+"/qr.svg", ""); a.Status != http.StatusOK {
			t.Errorf("expired: got %d", a.Status)
		}
	}
}
