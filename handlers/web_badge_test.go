package handlers_test

import (
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"linkwatch/models/targets"
)

// svg is a badge as a reader of XML sees it.
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

func (s *site) badge(path string) (b svg, words string) {
	s.t.Helper()
	a := s.get(path)
	if a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != "image/svg+xml" {
		s.t.Fatalf("%s: %d %s", path, a.StatusCode, a.Header.Get("Content-Type"))
	}
	if got := a.Header.Get("Content-Security-Policy"); got != "default-src 'none'; sandbox" {
		s.t.Errorf("%s: Content-Security-Policy is %q", path, got)
	}
	s.must(xml.Unmarshal([]byte(a.body), &b))
	if b.Role != "img" || b.Height != 20 || len(b.Texts) != 2 {
		s.t.Fatalf("%s is %+v", path, b)
	}
	if last := b.Texts[1]; last.X+last.Length >= b.Width || b.Texts[0].X+b.Texts[0].Length >= last.X {
		s.t.Errorf("%s: the texts do not fit: %+v", path, b)
	}
	return b, b.Texts[0].Text + " | " + b.Texts[1].Text
}

func TestBadges(t *testing.T) {
	s := newSite(t)
	shop := s.watched("https://shop.example", "Shop", foundUp, foundUp, foundUp, foundDown)
	fresh := s.watched("https://fresh.example", "")
	s.published("ours", "Ours", shop, fresh)
	s.clock.Advance(time.Hour) // each result holds for 30 s
	now, err := s.targets.Get(t.Context(), shop.ID)
	s.must(err)
	history, err := s.targets.History(t.Context(), now, targets.Last30d)
	s.must(err)
	median := strconv.Itoa(history.P50) + " ms"
	for path, want := range map[string]string{
		shop.ID + "/status.svg":      "Shop | down",
		shop.ID + "/status/24h.svg":  "Shop | down",
		shop.ID + "/uptime.svg":      "uptime since 12:01 UTC | 75.00%",
		shop.ID + "/uptime/24h.svg":  "uptime since 12:01 UTC | 75.00%",
		shop.ID + "/uptime/7d.svg":   "uptime since 12:01 UTC | 75.00%",
		shop.ID + "/uptime/90d.svg":  "uptime since 12:01 UTC | 75.00%",
		shop.ID + "/latency.svg":     "latency 24h | " + median,
		shop.ID + "/latency/30d.svg": "latency 30d | " + median,
		fresh.ID + "/status.svg":     "fresh.example | pending",
		fresh.ID + "/uptime.svg":     "uptime 30d | no data",
		fresh.ID + "/latency.svg":    "latency 24h | no data",
	} {
		b, words := s.badge("/badge/" + path)
		if words != want {
			t.Errorf("%s says %q, want %q", path, words, want)
		}
		if name := map[bool]string{true: "Shop", false: "fresh.example"}[strings.HasPrefix(path, shop.ID)]; !strings.HasPrefix(b.Title, name+": ") {
			t.Errorf("%s is called %q", path, b.Title)
		}
	}
	if got := s.get("/badge/" + shop.ID + "/status.svg").Header.Get("Cache-Control"); got != "public, max-age=30" {
		t.Errorf("a status may be kept: %q", got)
	}
	if got := s.get("/badge/" + shop.ID + "/uptime.svg").Header.Get("Cache-Control"); got != "public, max-age=60" {
		t.Errorf("an uptime may be kept: %q", got)
	}
	head := s.do(httptest.NewRequestWithContext(t.Context(), http.MethodHead, "/badge/"+shop.ID+"/status.svg", nil))
	if head.StatusCode != http.StatusOK || head.Header.Get("Content-Type") != "image/svg+xml" {
		t.Errorf("HEAD: %d %s", head.StatusCode, head.Header.Get("Content-Type"))
	}
}

func TestHostileBadge(t *testing.T) {
	s := newSite(t)
	for i, name := range []string{hostile, "a & b < c \uffff\ufffe", `"'` + "`", strings.Repeat("W", 200), "日本語 ürümçi 🚀", "]]>"} {
		target := s.watched("https://"+strconv.Itoa(i)+".example", name)
		s.published("p"+strconv.Itoa(i), "P", target)
		b, words := s.badge("/badge/" + target.ID + "/status.svg")
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

func TestBadgesOnlyOfWhatIsPublic(t *testing.T) {
	s := newSite(t)
	shown, hidden := s.watched("https://shown.example", "", foundUp), s.watched("https://hidden.example", "", foundUp)
	p := s.published("ours", "Ours", shown)
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
		a := s.get("/badge/" + path)
		if a.StatusCode != want {
			t.Errorf("%s: status %d, want %d", path, a.StatusCode, want)
		}
	}
	_, err := s.targets.EditPage(t.Context(), p.ID, targets.PageSettings{Slug: "ours", Title: "Ours", TargetIDs: []string{hidden.ID}})
	s.must(err)
	wantStatus(t, s.get("/badge/"+shown.ID+"/status.svg"), http.StatusNotFound)
	s.must(s.targets.Delete(t.Context(), hidden.ID))
	wantStatus(t, s.get("/badge/"+hidden.ID+"/status.svg"), http.StatusNotFound)
	s.must(s.targets.DeletePage(t.Context(), p.ID))
	wantStatus(t, s.get("/status/ours"), http.StatusNotFound)
}
