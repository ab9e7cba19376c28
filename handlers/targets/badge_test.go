package targets_test

import (
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models/targets"
)

// svg is a parsed badge.
type svg struct {
	XMLName xml.Name `xml:"http://www.w3.org/2000/svg svg"`
	Width   int      `xml:"width,attr"`
	Height  int      `xml:"height,attr"`
	Role    string   `xml:"role,attr"`
	Title   string   `xml:"title"`
	Texts   []struct {
		X      int    `xml:"x,attr"`
		Length int    `xml:"textLength,attr"`
		Text   string `xml:",chardata"`
	} `xml:"g>text"`
}

// badge requests and parses a badge, and returns its label and value.
func badge(s *apptest.App, path string) (b svg, words string) {
	s.Helper()
	a := s.Get(path)
	if a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != "image/svg+xml" {
		s.Fatalf("%s: %d %s", path, a.StatusCode, a.Header.Get("Content-Type"))
	}
	if got := a.Header.Get("Content-Security-Policy"); got != "default-src 'none'; sandbox" {
		s.Errorf("%s: Content-Security-Policy is %q", path, got)
	}
	s.Must(xml.Unmarshal([]byte(a.HTML), &b))
	if b.Role != "img" || b.Height != 20 || len(b.Texts) != 2 {
		s.Fatalf("%s is %+v", path, b)
	}
	if last := b.Texts[1]; last.X+last.Length >= b.Width || b.Texts[0].X+b.Texts[0].Length >= last.X {
		s.Errorf("%s: the texts do not fit: %+v", path, b)
	}
	return b, b.Texts[0].Text + " | " + b.Texts[1].Text
}

func TestBadges(t *testing.T) {
	s := apptest.New(t)
	shop := s.Watch("https://shop.example", "Shop", foundUp, foundUp, foundUp, foundDown)
	fresh := s.Watch("https://fresh.example", "")
	publish(s, "ours", "Ours", shop, fresh)
	s.Clock.Advance(time.Hour) // each result counts for 30 s
	now, err := s.Targets.Get(t.Context(), shop.ID)
	s.Must(err)
	history, err := s.Targets.History(t.Context(), now, targets.Last30d)
	s.Must(err)
	median := strconv.Itoa(history.P50) + " ms"
	for path, want := range map[string]string{
		shop.ID + "/status.svg":      "Shop | down",
		shop.ID + "/status/24h.svg":  "Shop | down",
		shop.ID + "/uptime.svg":      "uptime since 12:01 UTC | 75.00%",
		shop.ID + "/uptime/24h.svg":  "uptime since 12:01 UTC | 75.00%",
		shop.ID + "/uptime/7d.svg":   "uptime since 12:01 UTC | 75.00%",
		shop.ID + "/uptime/90d.svg":  "uptime since 12:01 UTC | 75.00%",
		shop.ID + "/latency.svg":     "response time 24h | " + median,
		shop.ID + "/latency/30d.svg": "response time 30d | " + median,
		fresh.ID + "/status.svg":     "fresh.example | pending",
		fresh.ID + "/uptime.svg":     "uptime 30d | no data",
		fresh.ID + "/latency.svg":    "response time 24h | no data",
	} {
		b, words := badge(s, "/badge/"+path)
		if words != want {
			t.Errorf("%s says %q, want %q", path, words, want)
		}
		if name := map[bool]string{true: "Shop", false: "fresh.example"}[strings.HasPrefix(path, shop.ID)]; !strings.HasPrefix(b.Title, name+": ") {
			t.Errorf("%s is called %q", path, b.Title)
		}
	}
	if got := s.Get("/badge/" + shop.ID + "/status.svg").Header.Get("Cache-Control"); got != "public, max-age=30" {
		t.Errorf("a status may be kept: %q", got)
	}
	if got := s.Get("/badge/" + shop.ID + "/uptime.svg").Header.Get("Cache-Control"); got != "public, max-age=60" {
		t.Errorf("an uptime may be kept: %q", got)
	}
	head := s.Browse(httptest.NewRequestWithContext(t.Context(), http.MethodHead, "/badge/"+shop.ID+"/status.svg", nil))
	if head.StatusCode != http.StatusOK || head.Header.Get("Content-Type") != "image/svg+xml" {
		t.Errorf("HEAD: %d %s", head.StatusCode, head.Header.Get("Content-Type"))
	}
}

func TestHostileBadge(t *testing.T) {
	s := apptest.New(t)
	for i, name := range []string{hostile, "a & b < c \uffff\ufffe", `"'` + "`", strings.Repeat("W", 200), "日本語 ürümçi 🚀", "]]>"} {
		target := s.Watch("https://"+strconv.Itoa(i)+".example", name)
		publish(s, "p"+strconv.Itoa(i), "P", target)
		b, words := badge(s, "/badge/"+target.ID+"/status.svg")
		shown := []rune(strings.Map(func(r rune) rune {
			if r >= '\ufffe' && r <= '\uffff' {
				return '\ufffd'
			}
			return r
		}, name))
		if !strings.HasPrefix(words, string(shown[:min(len(shown), 40)])) || !strings.Contains(b.Title, string(shown)) || b.Width > 700 {
			t.Errorf("%q became %q with the title %q, %d wide", name, words, b.Title, b.Width)
		}
	}
}

func TestBadgesOfPublicTargetsOnly(t *testing.T) {
	s := apptest.New(t)
	shown, hidden := s.Watch("https://shown.example", "", foundUp), s.Watch("https://hidden.example", "", foundUp)
	p := publish(s, "ours", "Ours", shown)
	for path, want := range map[string]int{
		shown.ID + "/status.svg":        200,
		hidden.ID + "/status.svg":       404,
		hidden.ID + "/uptime/7d.svg":    404,
		"t_none/status.svg":             404,
		shown.ID + "/status":            404,
		shown.ID + "/status.png":        404,
		shown.ID + "/weather.svg":       404,
		shown.ID + "/uptime/365d.svg":   404,
		shown.ID + "/uptime/7d":         404,
		shown.ID + "/uptime.svg/7d.svg": 404,
		shown.ID + "/uptime/.svg":       404,
		shown.ID:                        404,
	} {
		a := s.Get("/badge/" + path)
		if a.StatusCode != want {
			t.Errorf("%s: status %d, want %d", path, a.StatusCode, want)
		}
	}
	_, err := s.Targets.EditPage(t.Context(), p.ID, targets.PageSettings{Slug: "ours", Title: "Ours", TargetIDs: []string{hidden.ID}})
	s.Must(err)
	apptest.WantStatus(t, s.Get("/badge/"+shown.ID+"/status.svg"), http.StatusNotFound)
	s.Must(s.Targets.Delete(t.Context(), hidden.ID))
	apptest.WantStatus(t, s.Get("/badge/"+hidden.ID+"/status.svg"), http.StatusNotFound)
	s.Must(s.Targets.DeletePage(t.Context(), p.ID))
	apptest.WantStatus(t, s.Get("/status/ours"), http.StatusNotFound)
}
