package handlers_test

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"linkwatch/handlers"
	"linkwatch/models/targets"
)

// watched adds a target with a name, "" = none, and lets checks of it find what
// they are told, a minute apart.
func (s *site) watched(address, name string, found ...targets.Result) targets.Target {
	s.t.Helper()
	t, _, err := s.targets.Add(s.t.Context(), targets.New{URL: address, Name: name})
	s.must(err)
	for _, r := range found {
		s.checked(t, r)
	}
	return t
}

// checked does what the checker does with a target that is asked for.
func (s *site) checked(t targets.Target, r targets.Result) {
	s.t.Helper()
	const checker = "k_site"
	s.clock.Advance(time.Minute)
	_, err := s.targets.Hold(s.t.Context(), checker)
	s.must(err)
	s.must(s.targets.RequestCheck(s.t.Context(), t.ID))
	due, _, err := s.targets.Claim(s.t.Context(), checker, 100)
	s.must(err)
	for _, d := range due {
		if d.ID == t.ID {
			r.CheckedAt = s.targets.Now()
			s.must(s.targets.Record(s.t.Context(), checker, targets.Checked{Target: d, Result: r}))
			s.must(s.targets.Leave(s.t.Context(), checker))
			return
		}
	}
	s.t.Fatalf("%s is not due", t.ID)
}

// published makes a status page of targets.
func (s *site) published(slug, title string, ts ...targets.Target) targets.StatusPage {
	s.t.Helper()
	e := targets.PageSettings{Slug: slug, Title: title, Description: "What we run."}
	for _, t := range ts {
		e.TargetIDs = append(e.TargetIDs, t.ID)
	}
	p, err := s.targets.AddPage(s.t.Context(), e)
	s.must(err)
	return p
}

func (s *site) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func withPassword(d *handlers.Deps) { d.Password = "correct horse" }

func TestStatusPageIsPublic(t *testing.T) {
	s := newSite(t, withPassword)
	shop := s.watched("https://secret-host.example/path", "Shop", foundUp, foundDown)
	s.published("ours", "Ours", shop)
	badge := "/badge/" + shop.ID
	for path, want := range map[string]int{
		"/status/ours": 200, "/status/ours/feed": 200, "/status/none": 404, "/status/none/feed": 404,
		badge + "/status.svg": 200, badge + "/uptime/7d.svg": 200, "/badge/t_none/status.svg": 404,
		"/status": 401, "/status/new": 401, "/status/ours/edit": 401, "/status/ours/delete": 401, "/admin/checks": 401,
	} {
		a := s.get(path)
		if a.StatusCode != want {
			t.Errorf("%s: status %d, want %d", path, a.StatusCode, want)
		}
		if want == 401 {
			continue
		}
		wantCount(t, a, "nav, form, input, [href='/'], [href='/links']", 0)
		for _, inside := range []string{"secret-host", "unexpected", "404 ", "v1.2.3", "login"} {
			if strings.Contains(a.body, inside) {
				t.Errorf("%s tells strangers %q", path, inside)
			}
		}
	}
	for _, path := range []string{"/status", "/status/ours/edit", "/status/ours/delete"} {
		if a := s.post(path, url.Values{"title": {"Theirs"}}); a.StatusCode != 401 {
			t.Errorf("POST %s: status %d", path, a.StatusCode)
		}
	}
	a := s.get("/status/ours")
	if got := a.Header.Get("Cache-Control"); got != "public, max-age=10" {
		t.Errorf("Cache-Control is %q", got)
	}
	if !slices.Contains(a.Header.Values("Vary"), "HX-Request") {
		t.Errorf("Vary is %q", a.Header.Values("Vary"))
	}
	if strings.Contains(a.body, "<style") || strings.Contains(a.body, " style=") || strings.Contains(a.body, "<script>") {
		t.Error("there is an inline style or script")
	}
	a.Find("a[href]").Each(func(_ int, l *goquery.Selection) {
		if got := l.AttrOr("href", ""); got != "/status/ours/feed" {
			t.Errorf("a link leads to %s", got)
		}
	})
}

func TestStatusPageSaysHowThingsAre(t *testing.T) {
	s := newSite(t)
	up := s.watched("https://up.example", "Alpha", foundUp)
	down := s.watched("https://down.example", "Beta", foundUp, foundDown)
	fresh := s.watched("https://new.example", "")
	resting := s.watched("https://resting.example", "Delta", foundUp)
	paused := true
	_, err := s.targets.Edit(t.Context(), resting.ID, targets.Edit{Paused: &paused})
	s.must(err)
	s.published("ours", "Our systems", down, fresh, resting, up)
	s.clock.Advance(10 * time.Second)

	a := s.get("/status/ours")
	wantText(t, a, "title", "Our systems")
	wantText(t, a, "h1", "Our systems")
	wantText(t, a, ".status-text", "What we run.")
	wantText(t, a, ".verdict-words", "1 of 4 is down")
	wantText(t, a, ".verdict", "Beta · 1 paused · 1 pending")
	wantText(t, a, ".verdict", "Updated 10 s ago (12:04:00 UTC)")
	var said []string
	a.Find(".system").Each(func(_ int, li *goquery.Selection) {
		said = append(said, strings.Join(strings.Fields(li.Find("h3").Text()+" "+li.Find(".system-head p").Text()), " "))
	})
	want := []string{"Beta down for 1 min 10 s", "new.example pending no result yet", "Delta paused not checked at present", "Alpha up"}
	if !slices.Equal(said, want) {
		t.Errorf("it says %q, want %q", said, want)
	}
	wantText(t, a, ".outage-day", "24 March 2026 Beta down for 1 min 10 s since 12:03 UTC")

	s.checked(down, foundUp)
	a = s.get("/status/ours")
	wantText(t, a, ".verdict-words", "2 of 4 are up")
	wantText(t, a, ".outage-day", "Beta was down for 2 min 10 s 12:03 – 12:05 UTC")
	s.published("well", "Well", up, down)
	wantText(t, s.get("/status/well"), ".verdict.up .verdict-words", "All systems are up")
	s.published("calm", "Calm", up)
	wantText(t, s.get("/status/calm"), ".status-outages", "None in the last 90 days")
	s.published("bare", "Bare")
	wantText(t, s.get("/status/bare"), ".empty", "Nothing is shown here yet")
}

func TestStatusPageDays(t *testing.T) {
	s := newSite(t)
	shop := s.watched("https://shop.example", "Shop", foundUp, foundUp)
	s.clock.Advance(48 * time.Hour)
	s.checked(shop, foundDown)
	s.checked(shop, foundUp)
	s.checked(shop, foundThrottled)
	s.published("ours", "Ours", shop)
	a := s.get("/status/ours")
	titles := a.Find(".system .beats title").Map(func(_ int, title *goquery.Selection) string { return title.Text() })
	if len(titles) != targets.PageDays {
		t.Fatalf("%d days", len(titles))
	}
	if got, want := titles[86:], []string{"23 Mar: no data", "24 Mar: 100%", "25 Mar: no data", "26 Mar: 50.00%"}; !slices.Equal(got, want) {
		t.Errorf("the last days are %q, want %q", got, want)
	}
	if got := a.Find(".system .beats").AttrOr("aria-label", ""); got != "The last 90 days: 2 with data, 1 of them with down time" {
		t.Errorf("the bar says %q", got)
	}
	wantText(t, a, ".system-uptime", "75.00% up since 2 days ago")
}

func TestStatusPageLive(t *testing.T) {
	s := newSite(t)
	s.published("ours", "Ours", s.watched("https://shop.example", "Shop", foundUp))
	a := s.part("/status/ours")
	wantCount(t, a, "#now", 1)
	wantCount(t, a, "h1, main", 0)
	whole := s.get("/status/ours")
	if got := whole.Find("#now").AttrOr("hx-get", ""); got != "/status/ours" {
		t.Errorf("the part is asked for at %q", got)
	}
	if !strings.Contains(whole.body, `<noscript><meta http-equiv="refresh"`) {
		t.Error("without JavaScript the page grows old")
	}
}

func TestHostileStatusPage(t *testing.T) {
	s := newSite(t)
	shop := s.watched("https://shop.example", hostile, foundDown)
	p, err := s.targets.AddPage(t.Context(), targets.PageSettings{
		Slug: "ours", Title: hostile, Description: hostile, TargetIDs: []string{shop.ID},
	})
	s.must(err)
	for _, path := range []string{"/status/" + p.Slug, "/status", "/status/ours/edit", "/status/ours/delete", "/admin/checks", "/admin/checks?target=" + shop.ID} {
		a := s.get(path)
		wantStatus(t, a, http.StatusOK)
		wantText(t, a, "main", hostile)
		wantCount(t, a, "main script, main img[onerror]", 0)
	}
}

func TestStatusPageQueries(t *testing.T) {
	s := newSite(t)
	var ts []targets.Target
	for i := range 12 {
		ts = append(ts, s.watched(fmt.Sprintf("https://%d.example", i), "", foundUp, foundDown))
	}
	s.published("few", "Few", ts[:2]...)
	s.published("many", "Many", ts...)
	for _, c := range []struct {
		few, many string
		most      int64
	}{
		{"/status/few", "/status/many", 7},
		{"/status/few/feed", "/status/many/feed", 6},
		{"/status/few/edit", "/status/many/edit", 8},
	} {
		if few, many := s.count(c.few), s.count(c.many); few != many || many > c.most {
			t.Errorf("%s: %d queries with two targets, %d with twelve, want at most %d", c.few, few, many, c.most)
		}
	}
}

func TestNoSuchStatusPage(t *testing.T) {
	s := newSite(t)
	a := s.get("/status/none")
	wantStatus(t, a, http.StatusNotFound)
	wantText(t, a, "h1", "Not found")
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/status/none", nil)
	r.Header.Set("Accept", "*/*")
	if a = s.do(r); a.StatusCode != 404 || a.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("a program gets %d %s", a.StatusCode, a.Header.Get("Content-Type"))
	}
	long := s.get("/status/" + strings.Repeat("x", 3000))
	wantStatus(t, long, http.StatusNotFound)
}

// atom is a feed as its readers see it.
type atom struct {
	XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string   `xml:"id"`
	Title   string   `xml:"title"`
	Updated string   `xml:"updated"`
	Author  string   `xml:"author>name"`
	Links   []struct {
		Rel  string `xml:"rel,attr"`
		Href string `xml:"href,attr"`
	} `xml:"link"`
	Entries []struct {
		ID      string `xml:"id"`
		Title   string `xml:"title"`
		Updated string `xml:"updated"`
		Link    struct {
			Href string `xml:"href,attr"`
		} `xml:"link"`
	} `xml:"entry"`
}

func (s *site) feed(path string) (atom, page) {
	s.t.Helper()
	a := s.get(path)
	if got := a.Header.Get("Content-Type"); got != "application/atom+xml; charset=utf-8" {
		s.t.Errorf("Content-Type is %q", got)
	}
	var f atom
	s.must(xml.Unmarshal([]byte(a.body), &f))
	return f, a
}

func TestStatusFeed(t *testing.T) {
	s := newSite(t, func(d *handlers.Deps) { d.Addresses.PublicURL = "https://status.example.org" })
	name := "Shop & <b>\uffff"
	shop := s.watched("https://shop.example", name, foundUp, foundDown)
	s.published("ours", "Ours & theirs", shop)
	f, a := s.feed("/status/ours/feed")
	const base = "https://status.example.org/status/ours"
	if f.Title != "Ours & theirs: outages" || f.Author != "Ours & theirs" || !strings.HasPrefix(f.ID, "urn:uuid:") {
		t.Errorf("the feed is %+v", f)
	}
	links := map[string]string{}
	for _, l := range f.Links {
		links[l.Rel] = l.Href
	}
	if links["alternate"] != base || links["self"] != base+"/feed" || len(f.Links) != 2 {
		t.Errorf("the feed's links are %v", f.Links)
	}
	if len(f.Entries) != 1 || f.Entries[0].Title != "Shop & <b>\ufffd is down" || f.Entries[0].Updated != "2026-03-24T12:02:00Z" ||
		f.Entries[0].Link.Href != base+"#2026-03-24" || !strings.HasPrefix(f.Entries[0].ID, "urn:uuid:") {
		t.Errorf("the entries are %+v", f.Entries)
	}

	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/status/ours/feed", nil)
	r.Header.Set("If-None-Match", a.Header.Get("ETag"))
	if again := s.do(r); again.StatusCode != http.StatusNotModified || again.body != "" {
		t.Errorf("the same feed again: %d", again.StatusCode)
	}

	begun := f.Entries[0]
	s.checked(shop, foundUp)
	f, _ = s.feed("/status/ours/feed")
	if len(f.Entries) != 2 || f.Entries[1] != begun || f.Entries[0].ID == begun.ID ||
		!strings.HasSuffix(f.Entries[0].Title, ": the outage ended after 1 min") || f.Entries[0].Updated != f.Updated {
		t.Errorf("the entries are %+v, updated %s", f.Entries, f.Updated)
	}
	if again := s.do(r); again.StatusCode != http.StatusOK {
		t.Errorf("another feed than before: %d", again.StatusCode)
	}
	whole := s.get("/status/ours")
	if got := whole.Find(`link[rel=alternate][type="application/atom+xml"]`).AttrOr("href", ""); got != "/status/ours/feed" {
		t.Errorf("the feed is said to be at %q", got)
	}
	wantCount(t, whole, "[id='2026-03-24']", 1)
}
