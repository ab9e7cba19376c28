package handlers_test

import (
	"bytes"
	"context"
	"net/http"
	"reflect"
	"testing"
	"time"

	"linkwatch/handlers"
	"linkwatch/handlers/middleware"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
	"linkwatch/views/qr"
)

// visit follows a short link.
func (s *server) visit(key, userAgent, referrer string) {
	s.t.Helper()
	_, err := s.short.Visit(s.t.Context(), key, shortlinks.Visitor{UserAgent: userAgent, Referrer: referrer})
	s.must(err)
}

// writeVisits does what the service does each second.
func (s *server) writeVisits() {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	cancel()
	s.visits.Gather(ctx) // what is in the queue
	s.must(s.visits.Write(s.t.Context(), s.short))
}

const (
	byDesktop = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36"
	byMobile  = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1"
	byTablet  = "Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.6 Mobile/15E148 Safari/604.1"
	byBot     = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
)

func TestShortLinkStats(t *testing.T) {
	eachEngine(t, func(s *server) {
		at := s.shorten(`"short_key":"abcd"`)
		empty := s.do("GET", at+"/stats", "").want(200)
		has(s.t, empty, map[string]any{
			"short_key": "abcd", "visits": 0.0, "bots": 0.0, "last_visited_at": nil, "referrers": []any{},
			"devices": map[string]any{"desktop": 0.0, "mobile": 0.0, "tablet": 0.0, "other": 0.0},
		})
		if len(empty) != 7 {
			s.t.Errorf("members %v", empty)
		}
		if days := objects(empty["days"]); len(days) != 30 || days[0]["date"] != "2026-02-23" || days[29]["date"] != "2026-03-24" {
			s.t.Errorf("days %v", days)
		}

		s.visit("abcd", byDesktop, "https://news.example/item?id=1")
		s.visit("abcd", byMobile, "https://news.example/other")
		s.visit("abcd", byBot, "https://bots.example/")
		s.clock.Advance(24 * time.Hour)
		s.visit("abcd", byTablet, "https://social.example/")
		s.visit("abcd", "", "")
		s.writeVisits()
		s.clock.Advance(24 * time.Hour)
		day := func(date string, bots, desktop, mobile, tablet, other float64) map[string]any {
			return map[string]any{
				"date": date, "visits": bots + desktop + mobile + tablet + other,
				"bots": bots, "desktop": desktop, "mobile": mobile, "tablet": tablet, "other": other,
			}
		}
		got := s.do("GET", at+"/stats?days=3", "").want(200)
		has(s.t, got, map[string]any{
			"visits": 5.0, "bots": 1.0, "last_visited_at": "2026-03-25T12:00:00Z",
			"days": []any{
				day("2026-03-24", 1, 1, 1, 0, 0), day("2026-03-25", 0, 0, 0, 1, 1), day("2026-03-26", 0, 0, 0, 0, 0),
			},
			"devices": map[string]any{"desktop": 1.0, "mobile": 1.0, "tablet": 1.0, "other": 1.0},
			"referrers": []any{
				map[string]any{"host": "news.example", "visits": 2.0},
				map[string]any{"host": nil, "visits": 1.0},
				map[string]any{"host": "social.example", "visits": 1.0},
			},
		})
		has(s.t, s.do("GET", at, "").want(200), map[string]any{"visits": 5.0, "bots": 1.0, "last_visited_at": "2026-03-25T12:00:00Z"})

		last := s.do("GET", at+"/stats?days=1", "").want(200)
		has(s.t, last, map[string]any{
			"visits": 5.0, "days": []any{day("2026-03-26", 0, 0, 0, 0, 0)}, "referrers": got["referrers"],
			"devices": map[string]any{"desktop": 0.0, "mobile": 0.0, "tablet": 0.0, "other": 0.0},
		})
		if n := len(objects(s.do("GET", at+"/stats?days=400", "").want(200)["days"])); n != 400 {
			s.t.Errorf("%d days, want 400", n)
		}
	})
}

func TestShortLinkQR(t *testing.T) {
	for _, addresses := range []middleware.Addresses{{}, {PublicURL: "https://links.example"}, {PublicURL: "https://links.example", ShortHost: "go.example"}} {
		s := newServerOn(t, modelstest.New(t), func(d *handlers.Deps) { d.Addresses = addresses })
		at := s.shorten(`"short_key":"abcd","ttl_seconds":60`)
		address := map[middleware.Addresses]string{
			{}:                                   s.url + "/s/abcd",
			{PublicURL: "https://links.example"}: "https://links.example/s/abcd",
			{PublicURL: "https://links.example", ShortHost: "go.example"}: "https://go.example/abcd",
		}[addresses]
		want, err := qr.SVG(address)
		s.must(err)
		a := s.do("GET", at+"/qr.svg", "")
		if a.status != http.StatusOK || !bytes.Equal([]byte(a.body), want) {
			t.Errorf("%+v: %d %s, want the code of %s", addresses, a.status, a.body, address)
		}
		type headers struct{ Type, Caching, Sniffing string }
		got := headers{a.header.Get("Content-Type"), a.header.Get("Cache-Control"), a.header.Get("X-Content-Type-Options")}
		if want := (headers{"image/svg+xml", "private, max-age=300", "nosniff"}); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
		s.clock.Advance(time.Hour)
		if a := s.do("GET", at+"/qr.svg", ""); a.status != http.StatusOK {
			t.Errorf("of an expired one: %d", a.status)
		}
	}
}
