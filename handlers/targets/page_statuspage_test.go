package targets_test

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

	"linkwatch/app/apptest"

	"github.com/PuerkitoBio/goquery"

	"linkwatch/models/targets"
)

func TestStatusPageIsPublic(t *testing.T) {
	s := apptest.New(t, withPassword)
	shop := s.Watch("https://secret-host.example/path", "Shop", foundUp, foundDown)
	publish(s, "ours", "Ours", shop)
	badge := "/badge/" + shop.ID
	for path, want := range map[string]int{
		"/status/ours": 200, "/status/ours/feed": 200, "/status/none": 404, "/status/none/feed": 404,
		badge + "/status.svg": 200, badge + "/uptime/7d.svg": 200, "/badge/t_none/status.svg": 404,
		"/status": 303, "/status/new": 303, "/status/ours/edit": 303, "/status/ours/delete": 303, "/admin/checks": 303, // to the login
	} {
		a := s.Get(path)
		if a.StatusCode != want {
			t.Errorf("%s: status %d, want %d", path, a.StatusCode, want)
		}
		if want == 303 {
			continue
		}
		apptest.WantCount(t, a, "nav, form, input, [href='/'], [href='/links']", 0)
		for _, inside := range []string{"secret-host", "unexpected", "404 ", "v1.2.3", "login"} {
			if strings.Contains(a.HTML, inside) {
				t.Errorf("%s contains %q", path, inside)
			}
		}
	}
	for path, want := range map[string]int{"/status": 401, "/status/ours/edit": 401, "/status/ours/delete": 303} { // 401: the login keeps the form
		if a := s.Post(path, url.Values{"title": {"Theirs"}}); a.StatusCode != want {
			t.Errorf("POST %s: status %d, want %d", path, a.StatusCode, want)
		}
	}
	a := s.Get("/status/ours")
	if got := a.Header.Get("Cache-Control"); got != "public, max-age=10" {
		t.Errorf("Cache-Control is %q", got)
	}
	if !slices.Contains(a.Header.Values("Vary"), "HX-Request") {
		t.Errorf("Vary is %q", a.Header.Values("Vary"))
	}
	if strings.Contains(a.HTML, "<style") || strings.Contains(a.HTML, " style=") || strings.Contains(a.HTML, "<script>") {
		t.Error("there is an inline style or script")
	}
	a.Find("a[href]").Each(func(_ int, l *goquery.Selection) {
		if got := l.AttrOr("href", ""); got != "/status/ours/feed" {
			t.Errorf("a link leads to %s", got)
		}
	})
}

func TestStatusPageContent(t *testing.T) {
	s := apptest.New(t)
	up := s.Watch("https://up.example", "Alpha", foundUp)
	down := s.Watch("https://down.example", "Beta", foundUp, foundDown)
	fresh := s.Watch("https://new.example", "")
	resting := s.Watch("https://resting.example", "Delta", foundUp)
	_, err := s.Targets.Edit(t.Context(), up.ID, targets.Edit{IntervalSeconds: new(3600)}) // its result is still recent
	s.Must(err)
	paused := true
	_, err = s.Targets.Edit(t.Context(), resting.ID, targets.Edit{Paused: &paused})
	s.Must(err)
	publish(s, "ours", "Our systems", down, fresh, resting, up)
	s.Clock.Advance(10 * time.Second)

	a := s.Get("/status/ours")
	apptest.WantText(t, a, "title", "Our systems")
	apptest.WantText(t, a, "h1", "Our systems")
	apptest.WantText(t, a, ".status-text", "What we run.")
	apptest.WantText(t, a, ".verdict-words", "1 of 4 is down")
	apptest.WantText(t, a, ".verdict", "Beta · 1 paused · 1 pending")
	apptest.WantText(t, a, ".verdict", "Updated 10 s ago (12:04:00 UTC)")
	var said []string
	a.Find(".system").Each(func(_ int, li *goquery.Selection) {
		said = append(said, strings.Join(strings.Fields(li.Find("h3").Text()+" "+li.Find(".system-head p").Text()), " "))
	})
	want := []string{"Beta down for 1 min 10 s", "new.example pending no result yet", "Delta paused not checked", "Alpha up"}
	if !slices.Equal(said, want) {
		t.Errorf("it says %q, want %q", said, want)
	}
	apptest.WantText(t, a, ".outage-day", "24 March 2026 Beta down for 1 min 10 s since 12:03 UTC")

	s.Record(down, foundUp)
	a = s.Get("/status/ours")
	apptest.WantText(t, a, ".verdict-words", "2 of 4 are up")
	apptest.WantText(t, a, ".outage-day", "Beta was down for 2 min 10 s 12:03 – 12:05 UTC")
	publish(s, "well", "Well", up, down)
	apptest.WantText(t, s.Get("/status/well"), ".verdict.up .verdict-words", "All systems are up")
	publish(s, "calm", "Calm", up)
	apptest.WantText(t, s.Get("/status/calm"), ".status-outages", "No outages in the last 90 days")
	publish(s, "bare", "Bare")
	apptest.WantText(t, s.Get("/status/bare"), ".empty", "No targets yet")
}

// TestStatusPageIsNotGreenerThanItsParts: a target without recent results is not shown as up, on no page.
func TestStatusPageIsNotGreenerThanItsParts(t *testing.T) {
	s := apptest.New(t)
	shop, blog := s.Watch("https://shop.example", "Shop", foundUp), s.Watch("https://blog.example", "Blog", foundUp)
	publish(s, "ours", "Ours", shop, blog)
	list := func(want string) {
		t.Helper()
		got := strings.Join(s.Get("/status/ours").Find(".system-head").Map(func(_ int, h *goquery.Selection) string {
			return strings.Join(strings.Fields(h.Find("h3").Text()+" "+h.Find("p").Text()), " ")
		}), ", ")
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	check(s, shop.ID, foundUp)
	apptest.WantText(t, s.Get("/status/ours"), ".verdict.up .verdict-words", "All systems are up")
	list("Shop up, Blog up")
	apptest.WantText(t, s.Get("/"), ".all-well", "no check is late")

	s.Clock.Advance(3 * time.Hour)
	check(s, blog.ID, foundUp)
	a := s.Get("/status/ours")
	apptest.WantText(t, a, ".verdict.unknown .verdict-words", "1 of 2 is up")
	apptest.WantText(t, a, ".verdict", "1 without recent results")
	list("Shop unknown no result for 3 h, Blog up")
	if svg := s.Get("/badge/" + shop.ID + "/status.svg").HTML; !strings.Contains(svg, "Shop: unknown") {
		t.Errorf("the badge is %s", svg)
	}
	apptest.WantText(t, s.Get("/watch"), "#"+shop.ID, "late for 2 h")
	apptest.WantText(t, s.Get("/watch/"+shop.ID), ".state", "no result for 3 h The status may have changed since.")
	a = s.Get("/")
	apptest.WantText(t, a, ".attention-group", "1 target with late checks warning")
	apptest.WantText(t, a, ".attention-group li", "late for 2 h")
	apptest.WantText(t, a, ".attention-group li", "Shop shop.example Other checks run first · last checked 3 h ago")

	s.Clock.Advance(3 * time.Hour)
	apptest.WantText(t, s.Get("/status/ours"), ".verdict.unknown .verdict-words", "No recent results")
	check(s, shop.ID, foundThrottled)
	list("Shop unknown no result for 6 h, Blog unknown no result for 3 h")
	a = s.Get("/watch")
	apptest.WantText(t, a, "#"+shop.ID+" .late", "no result for 6 h")
	check(s, shop.ID, foundDown)
	check(s, blog.ID, foundUp)
	list("Shop down for 1 s, Blog up")
}

// A target without any result has no uptime and no "No outages".
func TestPagesOfUncheckedTargets(t *testing.T) {
	s := apptest.New(t)
	fresh := s.Watch("https://new.example", "New")
	publish(s, "fresh", "Fresh", fresh)
	a := s.Get("/status/fresh")
	apptest.WantText(t, a, ".verdict.pending .verdict-words", "Waiting for the first results")
	apptest.WantText(t, a, ".status-outages .all-well", "No results yet.")
	apptest.WantCount(t, a, ".status-outages .icon", 0)
	apptest.WantText(t, a, ".system-uptime", "no data yet")
	a = s.Get("/watch/" + fresh.ID)
	apptest.WantText(t, a, "section[aria-labelledby=outages]", "No checks yet.")
	apptest.WantCount(t, a, "section[aria-labelledby=outages] .icon", 0)
	if svg := s.Get("/badge/" + fresh.ID + "/uptime.svg").HTML; !strings.Contains(svg, "no data") {
		t.Errorf("the badge is %s", svg)
	}
	check(s, fresh.ID, foundUp)
	s.Clock.Advance(time.Second)
	apptest.WantText(t, s.Get("/status/fresh"), ".status-outages .all-well", "No outages in the last 90 days.")
	apptest.WantText(t, s.Get("/watch/"+fresh.ID), "section[aria-labelledby=outages]", "No outages.")
}

func TestStatusPageDays(t *testing.T) {
	s := apptest.New(t)
	shop := s.Watch("https://shop.example", "Shop", foundUp, foundUp)
	s.Clock.Advance(48 * time.Hour)
	s.Record(shop, foundDown)
	s.Record(shop, foundUp)
	s.Record(shop, foundThrottled)
	publish(s, "ours", "Ours", shop)
	a := s.Get("/status/ours")
	titles := a.Find(".system .uptime-bar title").Map(func(_ int, title *goquery.Selection) string { return title.Text() })
	if len(titles) != targets.PageDays {
		t.Fatalf("%d days", len(titles))
	}
	if got, want := titles[86:], []string{"23 Mar: no data", "24 Mar: 100%", "25 Mar: no data", "26 Mar: 50.00%"}; !slices.Equal(got, want) {
		t.Errorf("the last days are %q, want %q", got, want)
	}
	if got := a.Find(".system .uptime-bar").AttrOr("aria-label", ""); got != "The last 90 days: 2 with data, 1 of them with downtime" {
		t.Errorf("the bar says %q", got)
	}
	apptest.WantText(t, a, ".system-uptime", "75.00% up first check 2 days ago")
}

func TestStatusPageLive(t *testing.T) {
	s := apptest.New(t)
	publish(s, "ours", "Ours", s.Watch("https://shop.example", "Shop", foundUp))
	a := s.Part("/status/ours")
	apptest.WantCount(t, a, "#now", 1)
	apptest.WantCount(t, a, "h1, main", 0)
	whole := s.Get("/status/ours")
	if got := whole.Find("#now").AttrOr("hx-get", ""); got != "/status/ours" {
		t.Errorf("got polling of %q", got)
	}
	if !strings.Contains(whole.HTML, `<noscript><meta http-equiv="refresh"`) {
		t.Error("without JavaScript the page grows old")
	}
}

func TestHostileStatusPage(t *testing.T) {
	s := apptest.New(t)
	shop := s.Watch("https://shop.example", hostile, foundDown)
	p, err := s.Targets.AddPage(t.Context(), targets.PageSettings{
		Slug: "ours", Title: hostile, Description: hostile, TargetIDs: []string{shop.ID},
	})
	s.Must(err)
	for _, path := range []string{"/status/" + p.Slug, "/status", "/status/ours/edit", "/status/ours/delete", "/admin/checks", "/admin/checks?target=" + shop.ID} {
		a := s.Get(path)
		apptest.WantStatus(t, a, http.StatusOK)
		apptest.WantText(t, a, "main", hostile)
		apptest.WantCount(t, a, "main script, main img[onerror]", 0)
	}
}

func TestStatusPageQueries(t *testing.T) {
	s := apptest.New(t)
	var ts []targets.Target
	for i := range 12 {
		ts = append(ts, s.Watch(fmt.Sprintf("https://%d.example", i), "", foundUp, foundDown))
	}
	publish(s, "few", "Few", ts[:2]...)
	publish(s, "many", "Many", ts...)
	for _, c := range []struct {
		few, many string
		most      int64
	}{
		{"/status/few", "/status/many", 7},
		{"/status/few/feed", "/status/many/feed", 6},
		{"/status/few/edit", "/status/many/edit", 9}, // one for the running checks of late targets
	} {
		if few, many := s.Count(c.few), s.Count(c.many); few != many || many > c.most {
			t.Errorf("%s: %d queries with two targets, %d with twelve, want at most %d", c.few, few, many, c.most)
		}
	}
}

func TestStatusPageNotFound(t *testing.T) {
	s := apptest.New(t)
	a := s.Get("/status/none")
	apptest.WantStatus(t, a, http.StatusNotFound)
	apptest.WantText(t, a, "h1", "Not found")
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/status/none", nil)
	r.Header.Set("Accept", "*/*")
	if a = s.Browse(r); a.StatusCode != 404 || a.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("a program gets %d %s", a.StatusCode, a.Header.Get("Content-Type"))
	}
	long := s.Get("/status/" + strings.Repeat("x", 3000))
	apptest.WantStatus(t, long, http.StatusNotFound)
}

// atom is a parsed Atom feed.
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

// feed requests and parses an Atom feed.
func feed(s *apptest.App, path string) (atom, apptest.Page) {
	s.Helper()
	a := s.Get(path)
	if got := a.Header.Get("Content-Type"); got != "application/atom+xml; charset=utf-8" {
		s.Errorf("Content-Type is %q", got)
	}
	var f atom
	s.Must(xml.Unmarshal([]byte(a.HTML), &f))
	return f, a
}

func TestStatusFeed(t *testing.T) {
	s := apptest.New(t, apptest.Set("PUBLIC_URL", "https://status.example.org"))
	name := "Shop & <b>\uffff"
	shop := s.Watch("https://shop.example", name, foundUp, foundDown)
	publish(s, "ours", "Ours & theirs", shop)
	f, a := feed(s, "/status/ours/feed")
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
	if again := s.Browse(r); again.StatusCode != http.StatusNotModified || again.HTML != "" {
		t.Errorf("the same feed again: %d", again.StatusCode)
	}

	begun := f.Entries[0]
	s.Record(shop, foundUp)
	f, _ = feed(s, "/status/ours/feed")
	if len(f.Entries) != 2 || f.Entries[1] != begun || f.Entries[0].ID == begun.ID ||
		!strings.HasSuffix(f.Entries[0].Title, ": the outage ended after 1 min") || f.Entries[0].Updated != f.Updated {
		t.Errorf("the entries are %+v, updated %s", f.Entries, f.Updated)
	}
	if again := s.Browse(r); again.StatusCode != http.StatusOK {
		t.Errorf("another feed than before: %d", again.StatusCode)
	}
	whole := s.Get("/status/ours")
	if got := whole.Find(`link[rel=alternate][type="application/atom+xml"]`).AttrOr("href", ""); got != "/status/ours/feed" {
		t.Errorf("the feed is said to be at %q", got)
	}
	apptest.WantCount(t, whole, "[id='2026-03-24']", 1)
}

// The page has a description for search engines.
func TestStatusPageDescription(t *testing.T) {
	s := apptest.New(t)
	target := s.Watch("https://example.com", "Example")
	add := func(slug, text string) {
		s.Do("POST", "/v1/status-pages", `{"slug":"`+slug+`","title":"Page","description":"`+text+`","targets":["`+target.ID+`"]}`).Want(201)
	}
	add("with", `Shop\nand stock`)
	add("without", "")
	for slug, want := range map[string]string{"with": "Shop and stock", "without": "Waiting for the first results"} {
		if got := s.Get("/status/"+slug).Find("meta[name=description]").AttrOr("content", ""); got != want {
			t.Errorf("%s: description %q, want %q", slug, got, want)
		}
	}
}
