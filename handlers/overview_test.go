package handlers_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
	"linkwatch/models/schedule"
	"linkwatch/models/targets"
)

const aDay = 24 * time.Hour

func timedOut(string) any     { return &links.FetchError{Reason: "timed out"} }
func returns404(u string) any { return links.Page{Status: 404, URL: u} }
func moved(u string) any      { return links.Page{Status: 200, URL: u + "/new", Permanent: true} }

// noneLate plans the next check of all targets for later, as if they were checked.
func noneLate(s *apptest.App) {
	s.Helper()
	next := s.Targets.Now().Add(time.Hour)
	modelstest.Exec(s.TB, s.DB, "UPDATE target_schedule SET due_at = ?, next_check_at = ?", next, next)
}

// groups returns the titles of the attention groups in order.
func groups(a apptest.Page) []string {
	var all []string
	a.Find(".attention-group").Each(func(_ int, g *goquery.Selection) {
		all = append(all, strings.TrimSpace(g.Find("h3").Text())+" ("+g.Find(".severity").Text()+")")
	})
	return all
}

// Many recently changed suspect links do not hide more important groups.
func TestAttention(t *testing.T) {
	s := apptest.New(t)
	addLinks(s, "moved", 1, 1, moved)
	addLinks(s, "long-gone", 2, 1, returns404)
	s.Clock.Advance(links.RecentDays * aDay)
	deadLinks(s, 7)
	addLinks(s, "gone", 6, 1, returns404)
	certified(s, map[string]int{"ended": 1, "ends": 6, "fine": 3}, map[string]time.Duration{"ended": -time.Hour, "ends": 5 * aDay, "fine": 50 * aDay})
	addLinks(s, "suspect", 23, 1, timedOut)
	for i := range 2 {
		s.Watch(fmt.Sprintf("https://down.test/%d", i), "", targets.Result{Outcome: targets.DownOutcome, StatusCode: 503, Error: "unexpected status 503"})
	}
	s.Must(s.Jobs.Declare(t.Context(), schedule.Job{ID: "broken", Schedule: "@hourly", NextRunAt: s.Jobs.Now()}))
	run, _, err := s.Jobs.Begin(t.Context(), s.Holder(), "broken", func(now time.Time) time.Time { return now.Add(time.Hour) })
	s.Must(err)
	run.Error = "no disk"
	s.Must(s.Jobs.Finish(t.Context(), run))

	noneLate(s)
	a := s.Get("/")
	want := []string{
		"2 targets down (critical)", "1 expired certificate (critical)", "7 dead links (critical)", "6 dead links expired in the last 7 days (critical)",
		"1 failed job (warning)", "6 certificates expiring soon (warning)", "23 suspect links (warning)", "1 moved link (info)",
	}
	if got := groups(a); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got groups\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	apptest.WantText(t, a, "#needs", "· 47")

	// Each group shows its first rows and links to a list of all its items.
	a.Find(".attention-group").Each(func(_ int, g *goquery.Selection) {
		var n int
		if _, err := fmt.Sscan(g.Find("h3").Text(), &n); err != nil {
			t.Fatal(err)
		}
		title, rows := g.Find("h3").Text(), g.Find("li").Length()
		if rows != min(n, 5) {
			t.Errorf("%s: got %d rows", title, rows)
		}
		if got := g.Find(".show-all a").Length() == 1; got != (n > rows) {
			t.Errorf("%s: got a link to all: %v", title, got)
		}
		if n > rows && g.Find(".show-all a").Text() != fmt.Sprint("Show all ", n) {
			t.Errorf("%s: got %q", title, g.Find(".show-all a").Text())
		}
		path := g.Find("h3 a").AttrOr("href", "")
		if path == "/admin/jobs" {
			return
		}
		list := s.Get(path)
		apptest.WantStatus(t, list, 200)
		if got := list.Find("ol.rows > li, table.targets tbody tr").Length(); got != n {
			t.Errorf("%s: list %s: got %d items", title, path, got)
		}
		if !strings.Contains(path, "status=") {
			apptest.WantCount(t, list, `[aria-label$="remove this filter"]`, strings.Count(path, "="))
		}
		g.Find("li a.title").Each(func(_ int, row *goquery.Selection) {
			if list.Find(fmt.Sprintf("a.title:contains(%q)", row.Text())).Length() == 0 {
				t.Errorf("%s: %s is missing in the list", title, row.Text())
			}
		})
	})
}

// Actions redirect back to the overview, which shows the result and an undo.
func TestAttention_Actions(t *testing.T) {
	s := apptest.New(t)
	addLinks(s, "gone", 1, 1, returns404)
	certified(s, map[string]int{"ends": 1}, map[string]time.Duration{"ends": 5 * aDay})
	s.Must(s.Jobs.Declare(t.Context(), schedule.Job{ID: "broken", Schedule: "@hourly", NextRunAt: s.Jobs.Now()}))
	run, _, err := s.Jobs.Begin(t.Context(), s.Holder(), "broken", func(now time.Time) time.Time { return now.Add(time.Hour) })
	s.Must(err)
	run.Error = "no disk"
	s.Must(s.Jobs.Finish(t.Context(), run))
	noneLate(s)
	for action, want := range map[string]string{"/refresh": "The page could not be fetched", "/run": "The job will start in a few seconds."} {
		a := s.Submit(s.Get("/"), `.attention form[action$="`+action+`"]`)
		apptest.WantCount(t, a, "#needs", 1)
		apptest.WantText(t, a, ".flash", want)
	}
	apptest.WantCount(t, s.Get("/"), `.attention form[action$="/check"] input[name=back][value="/"]`, 1)
	a := s.Submit(s.Get("/"), `.attention form[action$="/expired"]`)
	apptest.WantText(t, a, ".flash", "1 link revived.")
	a = s.Submit(a, ".flash form")
	apptest.WantCount(t, a, "#needs", 1)
	apptest.WantText(t, a, ".flash", "Undone.")
}

// The overview does not say that all is well while jobs or checks do not start, or nothing was checked.
func TestAttention_NothingRuns(t *testing.T) {
	s := apptest.New(t)
	s.Save("https://fine.test")
	modelstest.Exec(t, s.DB, "UPDATE links SET health = 'unchecked'")
	s.Must(s.Jobs.Declare(t.Context(), schedule.Job{ID: "revalidation", Schedule: "@hourly", NextRunAt: s.Jobs.Now()}))
	apptest.WantText(t, s.Get("/"), ".all-well", "links are dead, suspect or moved (1 not checked yet)")
	s.Watch("https://new.test", "")
	apptest.WantText(t, s.Get("/"), ".all-well", "no target is down (1 not checked yet)")
	s.Clock.Advance(10 * time.Minute)
	a := s.Get("/")
	if got := strings.Join(groups(a), ", "); got != "1 overdue job (warning), 1 target with late checks (warning)" {
		t.Errorf("got groups %s", got)
	}
	apptest.WantText(t, a, ".attention-group", "Job revalidation has not started Due 10 min ago")
	_, _, err := s.Jobs.Begin(t.Context(), s.Holder(), "revalidation", func(now time.Time) time.Time { return now.Add(time.Hour) })
	s.Must(err)
	if got := strings.Join(groups(s.Get("/")), ", "); got != "1 target with late checks (warning)" {
		t.Errorf("got groups %s", got)
	}
}

func TestAttention_Empty(t *testing.T) {
	s := apptest.New(t)
	s.Save("https://fine.test")
	a := s.Get("/")
	apptest.WantCount(t, a, ".attention-group", 0)
	apptest.WantText(t, a, ".all-well", "All is well.")
	if got := apptest.Text(a, "#needs"); got != "Needs attention" {
		t.Errorf("got %q", got)
	}
}

// The number of queries of the overview does not depend on the number of items.
func TestAttention_Queries(t *testing.T) {
	s := apptest.New(t)
	addLinks(s, "suspect", 2, 1, timedOut)
	addLinks(s, "gone", 2, 1, returns404)
	few := s.Count("/")
	addLinks(s, "more-suspect", 40, 1, timedOut)
	addLinks(s, "more-gone", 20, 1, returns404)
	if many := s.Count("/"); many != few || many > 38 {
		t.Errorf("got %d queries for few, %d for many", few, many)
	}
}

// Links that expired within the last week can be searched like others.
func TestRecentlyExpiredLinks(t *testing.T) {
	apptest.EachEngine(t, func(s *apptest.App) {
		for _, name := range []string{"old", "new", "kept"} {
			s.Save("https://example.com/"+name, "tag")
		}
		for _, name := range []string{"old", "new"} {
			l, _, err := s.Links.ByURL(s.Context(), "https://example.com/"+name)
			s.Must(err)
			_, err = s.Links.SetExpired(s.Context(), true, l.ID)
			s.Must(err)
			if name == "old" {
				modelstest.Exec(s.TB, s.DB, "UPDATE links SET expired_at = ? WHERE id = ?", models.At(s.Clock.Now().Add(-8*aDay)), l.ID)
			}
		}
		for _, path := range []string{"/v1/links?expired=recent", "/v1/links?expired=recent&tag=tag", "/v1/search?q=example&expired=recent", "/v1/search?q=tag:tag&expired=recent&health=ok"} {
			got := s.Do("GET", path, "").Want(200)
			if apptest.Column(got, "url") != "https://example.com/new" || fmt.Sprint(got["total_results"]) != "1" {
				s.Errorf("%s: %v of %v", path, apptest.Column(got, "url"), got["total_results"])
			}
		}
	})
}

// addLinks saves n links of a kind, whose pages then have a result for some days.
func addLinks(s *apptest.App, kind string, n, days int, result func(url string) any) {
	s.Helper()
	var ids []string
	for i := range n {
		u := fmt.Sprintf("https://%s.test/%d", kind, i)
		ids = append(ids, s.Save(u).ID)
		s.Web.Set(u, result(u))
	}
	for range days {
		s.Clock.Advance(aDay)
		for _, id := range ids {
			if _, err := s.Links.Refresh(s.Context(), id); err != nil {
				s.Fatal(err)
			}
		}
	}
}

func deadLinks(s *apptest.App, n int) { addLinks(s, "dead", n, links.DeadAfter, timedOut) }

// certified adds and checks n targets for each name. Their certificates expire after the given
// times.
func certified(s *apptest.App, n map[string]int, ends map[string]time.Duration) {
	s.Helper()
	for name := range n {
		for i := range n[name] {
			s.Watch(fmt.Sprintf("https://%s.test/%d", name, i), "")
		}
	}
	s.CheckDue(func(t targets.Target) targets.Checked {
		name, _, _ := strings.Cut(t.Host, ".")
		r := targets.Result{CheckedAt: s.Targets.Now(), StatusCode: 200, LatencyMS: 10, Attempts: 1}
		return targets.Checked{Target: t, Result: r, TLSExpiresAt: s.Targets.Now().Add(ends[name])}
	})
}
