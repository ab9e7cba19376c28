package handlers_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
	"linkwatch/models/schedule"
	"linkwatch/models/targets"
)

const aDay = 24 * time.Hour

// turn makes n links of a kind: it saves them, and then their pages answer so on
// some days.
func (s *site) turn(kind string, n, days int, answer func(url string) any) {
	s.t.Helper()
	var ids []string
	for i := range n {
		u := fmt.Sprintf("https://%s.test/%d", kind, i)
		ids = append(ids, s.save(u).ID)
		s.web.set(u, answer(u))
	}
	for range days {
		s.clock.Advance(aDay)
		for _, id := range ids {
			if _, err := s.links.Refresh(s.t.Context(), id); err != nil {
				s.t.Fatal(err)
			}
		}
	}
}

func timedOut(string) any       { return &links.FetchError{Reason: "timed out"} }
func gone(u string) any         { return links.Page{Status: 404, URL: u} }
func elsewhere(u string) any    { return links.Page{Status: 200, URL: u + "/new", Permanent: true} }
func (s *site) deadLinks(n int) { s.turn("dead", n, links.DeadAfter, timedOut) }

// certified watches n targets for each name, and checks them: their certificates
// end at some time from now.
func (s *site) certified(n map[string]int, ends map[string]time.Duration) {
	s.t.Helper()
	for name := range n {
		for i := range n[name] {
			s.watch(fmt.Sprintf("https://%s.test/%d", name, i), "")
		}
	}
	s.check(func(t targets.Target) targets.Checked {
		name, _, _ := strings.Cut(t.Host, ".")
		r := targets.Result{CheckedAt: s.targets.Now(), StatusCode: 200, LatencyMS: 10, Attempts: 1}
		return targets.Checked{Target: t, Result: r, TLSExpiresAt: s.targets.Now().Add(ends[name])}
	})
}

// groups are the titles of what needs attention, in their order.
func groups(a page) []string {
	var all []string
	a.Find(".attention-group").Each(func(_ int, g *goquery.Selection) {
		all = append(all, strings.TrimSpace(g.Find("h3").Text())+" ("+g.Find(".severity").Text()+")")
	})
	return all
}

// Many suspect links, the latest to change, hide nothing that matters more.
func TestAttention(t *testing.T) {
	s := newSite(t)
	s.turn("moved", 1, 1, elsewhere)
	s.turn("long-gone", 2, 1, gone)
	s.clock.Advance(links.RecentDays * aDay)
	s.deadLinks(7)
	s.turn("gone", 6, 1, gone)
	s.certified(map[string]int{"ended": 1, "ends": 6, "fine": 3}, map[string]time.Duration{"ended": -time.Hour, "ends": 5 * aDay, "fine": 50 * aDay})
	s.turn("suspect", 23, 1, timedOut)
	for i := range 2 {
		s.watched(fmt.Sprintf("https://down.test/%d", i), "", targets.Result{Outcome: targets.DownOutcome, StatusCode: 503, Error: "unexpected status 503"})
	}
	s.must(s.jobs.Declare(t.Context(), schedule.Job{ID: "broken", Schedule: "@hourly", NextRunAt: s.jobs.Now()}))
	run, _, err := s.jobs.Begin(t.Context(), "broken", func(now time.Time) time.Time { return now.Add(time.Hour) })
	s.must(err)
	run.Error = "no disk"
	s.must(s.jobs.Finish(t.Context(), run))

	a := s.get("/")
	want := []string{
		"2 targets down (critical)", "1 expired certificate (critical)", "7 dead links (critical)", "6 dead links expired in the last 7 days (critical)",
		"1 failed job (warning)", "6 certificates expiring soon (warning)", "23 suspect links (warning)", "1 moved link (info)",
	}
	if got := groups(a); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the groups are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	wantText(t, a, "#needs", "· 47")

	// Each group shows its first rows, and leads to a list of exactly its things.
	a.Find(".attention-group").Each(func(_ int, g *goquery.Selection) {
		var n int
		if _, err := fmt.Sscan(g.Find("h3").Text(), &n); err != nil {
			t.Fatal(err)
		}
		title, rows := g.Find("h3").Text(), g.Find("li").Length()
		if rows != min(n, 5) {
			t.Errorf("%s: %d rows are shown", title, rows)
		}
		if got := g.Find(".show-all a").Length() == 1; got != (n > rows) {
			t.Errorf("%s: there is a link to all: %v", title, got)
		}
		if n > rows && g.Find(".show-all a").Text() != fmt.Sprint("Show all ", n) {
			t.Errorf("%s: %q", title, g.Find(".show-all a").Text())
		}
		path := g.Find("h3 a").AttrOr("href", "")
		if path == "/admin/jobs" {
			return
		}
		list := s.get(path)
		wantStatus(t, list, 200)
		if got := list.Find("ol.rows > li, table.targets tbody tr").Length(); got != n {
			t.Errorf("%s: the list %s shows %d", title, path, got)
		}
		if !strings.Contains(path, "status=") {
			wantCount(t, list, `[aria-label$="remove this filter"]`, strings.Count(path, "="))
		}
		g.Find("li a.title").Each(func(_ int, row *goquery.Selection) {
			if list.Find(fmt.Sprintf("a.title:contains(%q)", row.Text())).Length() == 0 {
				t.Errorf("%s: %s is not in its list", title, row.Text())
			}
		})
	})
}

func TestAttention_NothingIsWrong(t *testing.T) {
	s := newSite(t)
	s.save("https://fine.test")
	a := s.get("/")
	wantCount(t, a, ".attention-group", 0)
	wantText(t, a, ".all-well", "All is well.")
	if got := text(a, "#needs"); got != "Needs attention" {
		t.Errorf("%q", got)
	}
}

// The first page takes as many queries for two of each as for many.
func TestAttention_Queries(t *testing.T) {
	s := newSite(t)
	s.turn("suspect", 2, 1, timedOut)
	s.turn("gone", 2, 1, gone)
	few := s.count("/")
	s.turn("more-suspect", 40, 1, timedOut)
	s.turn("more-gone", 20, 1, gone)
	if many := s.count("/"); many != few || many > 32 {
		t.Errorf("%d queries for few, %d for many", few, many)
	}
}

// Links that expired within the last week can be searched like others.
func TestRecentlyExpiredLinks(t *testing.T) {
	eachEngine(t, func(s *server) {
		for _, name := range []string{"old", "new", "kept"} {
			s.save("https://example.com/"+name, "tag")
		}
		for _, name := range []string{"old", "new"} {
			l, _, err := s.links.ByURL(s.t.Context(), "https://example.com/"+name)
			s.must(err)
			_, err = s.links.SetExpired(s.t.Context(), true, l.ID)
			s.must(err)
			if name == "old" {
				modelstest.Exec(s.t, s.db, "UPDATE links SET expired_at = ? WHERE id = ?", models.At(time.Now().Add(-8*aDay)), l.ID)
			}
		}
		for _, path := range []string{"/v1/links?expired=recent", "/v1/links?expired=recent&tag=tag", "/v1/search?q=example&expired=recent", "/v1/search?q=tag:tag&expired=recent&health=ok"} {
			got := s.do("GET", path, "").want(200)
			if column(got, "url") != "https://example.com/new" || fmt.Sprint(got["total_results"]) != "1" {
				s.t.Errorf("%s: %v of %v", path, column(got, "url"), got["total_results"])
			}
		}
	})
}
