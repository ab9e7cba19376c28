package links_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/models/schedule"
)

func TestBulkOnPagesAndUndo(t *testing.T) {
	s := apptest.NewSite(t)
	a, b := s.Save("https://example.com/a", "one"), s.Save("https://example.com/b")
	s.Save("https://example.com/c")
	both := func(action, tags string) url.Values {
		return url.Values{"id": {a.ID, b.ID}, "action": {action}, "tags": {tags}, "back": {"/links?q=example"}}
	}
	for _, c := range []struct {
		action, tags, says string
		rows               int
	}{
		{"delete", "", "2 links deleted.", 1},
		{"expire", "", "2 links expired.", 1},
		{"tag", "x, y", "2 links tagged.", 3},
	} {
		page := s.Follow("/links/bulk", both(c.action, c.tags))
		apptest.WantText(t, page, ".flash", c.says)
		apptest.WantCount(t, page, ".row", c.rows)
		page = s.Submit(page, ".flash form")
		apptest.WantText(t, page, ".flash", "Undone.")
		apptest.WantCount(t, page, ".row", 3)
		apptest.WantText(t, page, "#"+a.ID+" .tags", "one")
		if got := page.Find("#q").AttrOr("value", ""); got != "example" {
			t.Errorf("after %s and undo the query is %q", c.action, got)
		}
	}
	apptest.WantCount(t, s.Get("/tags"), "tbody tr", 1) // x and y are gone again

	apptest.WantText(t, s.Follow("/links/bulk", url.Values{"action": {"delete"}}), ".flash", "no link was selected")
	page := s.Post("/links/bulk", both("tag", strings.Repeat("x", 99)))
	apptest.WantStatus(t, page, http.StatusBadRequest)
	apptest.WantText(t, page, "#bulk-error", "longer than")
	apptest.WantCount(t, page, ".row input[checked]", 2)
	apptest.WantStatus(t, s.Post("/links/bulk", both("explode", "")), http.StatusBadRequest)
}

func TestBackStaysHere(t *testing.T) {
	s := apptest.NewSite(t)
	for _, away := range []string{"https://evil.example/", "//evil.example/links", "/\\evil.example", "javascript:alert(1)", "/admin/jobs"} {
		l := s.Save("https://example.com/a")
		got := s.Post("/links/bulk", url.Values{"id": {l.ID}, "action": {"expire"}, "back": {away}}).Header.Get("Location")
		if !strings.HasPrefix(got, "/links?change=") {
			t.Errorf("back=%q leads to %q", away, got)
		}
		s.Post("/links/"+l.ID+"/delete", nil)
	}
}

// TestUndoOfWhatWasSavedAgain: nothing comes back, and the page does not say so.
func TestUndoOfWhatWasSavedAgain(t *testing.T) {
	s := apptest.NewSite(t)
	l := s.Save("https://example.com/a")
	page := s.Follow("/links/"+l.ID+"/delete", nil)
	s.Save("https://example.com/a")
	apptest.WantText(t, s.Submit(page, ".flash form"), ".flash", "Nothing could be taken back")
}

// TestNotesForAKnownLinkAreKept: what was typed for a link that was saved
// before stands with its notes.
func TestNotesForAKnownLinkAreKept(t *testing.T) {
	s := apptest.NewSite(t)
	for _, notes := range []string{"first", "second", "second"} {
		s.Follow("/links", url.Values{"url": {"https://example.com/a"}, "notes": {notes}})
	}
	found, err := s.Links.List(t.Context(), links.Filter{}, models.Page{Number: 1, Size: 10})
	if err != nil || len(found.Items) != 1 || found.Items[0].Notes != "first\n\nsecond" {
		t.Errorf("%+v, %v", found.Items, err)
	}
}

// TestUnknownFilesAreProblems: also under /static/ an error is a page or a problem.
func TestUnknownFilesAreProblems(t *testing.T) {
	s := apptest.NewSite(t)
	for _, path := range []string{"/static/", "/static/x/none.css"} {
		page := s.Get(path)
		apptest.WantStatus(t, page, http.StatusNotFound)
		if !strings.Contains(page.HTML, "There is no such file.") {
			t.Errorf("%s: %s", path, page.HTML)
		}
	}
}

// TestWhatAnAddressSays: only a link's page offers to put a tag back.
func TestWhatAnAddressSays(t *testing.T) {
	s := apptest.NewSite(t)
	l := s.Save("https://example.com/a")
	apptest.WantCount(t, s.Get("/links/"+l.ID+"?untagged=x"), ".flash form", 1)
	for _, path := range []string{"/?untagged=x", "/links?untagged=x", "/tags?untagged=x", "/?done=nonsense", "/links?change=x"} {
		apptest.WantCount(t, s.Get(path), ".flash", 0)
	}
}

func TestBulkRefreshShowsProgress(t *testing.T) {
	s := apptest.NewSite(t)
	l, m := s.Save("https://example.com/a"), s.Save("https://example.com/b")
	page := s.Follow("/links/bulk", url.Values{"id": {l.ID, m.ID}, "action": {"refresh"}, "back": {"/links?tag=go"}})
	apptest.WantText(t, page, "#progress", "0 of 2 links")
	apptest.WantCount(t, page, `#progress[hx-trigger="every 1s"]`, 1)
	if !strings.Contains(page.HTML, `http-equiv="refresh"`) {
		t.Error("a browser without JavaScript never asks again")
	}
	for range 2 {
		apptest.RefreshOne(t, s.Links)
	}
	path := page.Find("#progress").AttrOr("hx-get", "")
	part := s.Part(path)
	apptest.WantText(t, part, "#progress", "Done: 2 links fetched.")
	apptest.WantCount(t, part, "[hx-trigger]", 0)
	page = s.Get(path + "?back=" + url.QueryEscape("/links?tag=go"))
	apptest.WantCount(t, page, `main a[href="/links?tag=go"]`, 1)
	if strings.Contains(page.HTML, `http-equiv="refresh"`) {
		t.Error("a finished page still reloads itself")
	}
}

func TestLinkPage(t *testing.T) {
	s := apptest.NewSite(t)
	s.Web.Set("https://example.com/a", links.Page{
		Status: 200, URL: "https://example.com/a", Title: "Fetched",
		OpenGraph: links.OpenGraph{Description: hostile, SiteName: "The site", Image: "https://example.com/i.png"},
	})
	l := s.Save("https://example.com/a", "one", "two")
	path := "/links/" + l.ID
	a := s.Get(path)
	apptest.WantText(t, a, "h1", "Fetched")
	apptest.WantText(t, a, ".description", hostile)
	apptest.WantCount(t, a, "main script", 0)
	if img := a.Find(".picture img"); img.AttrOr("referrerpolicy", "") != "no-referrer" || img.AttrOr("loading", "") != "lazy" {
		t.Error("the picture tells its host who looks, or does not wait")
	}

	a = s.Follow(path, url.Values{"title": {"Mine <b>"}, "notes": {"line\nline"}})
	apptest.WantText(t, a, "h1", "Mine <b>")
	apptest.WantText(t, a, ".notes", "line line")
	a = s.Post(path, url.Values{"title": {strings.Repeat("t", links.MaxTitle+1)}, "notes": {"typed"}})
	apptest.WantStatus(t, a, http.StatusBadRequest)
	apptest.WantText(t, a, "#title-error", "longer")
	apptest.WantText(t, a, "details[open] textarea", "typed")

	a = s.Follow(path+"/tags", url.Values{"tags": {"three"}})
	apptest.WantText(t, a, ".tag-list", "one two three")
	a = s.Submit(a, ".tag-list li:first-child form")
	apptest.WantText(t, a, ".flash", "Tag removed: one")
	apptest.WantText(t, a, ".tag-list", "two three")
	a = s.Submit(a, ".flash form")
	apptest.WantText(t, a, ".tag-list", "one")
	apptest.WantStatus(t, s.Post(path+"/tags", url.Values{"tags": {strings.Repeat("x", 99)}}), http.StatusBadRequest)

	a = s.Submit(s.Get(path), `form[action$="/refresh"]`)
	apptest.WantText(t, a, ".flash", "Fetched again")
	apptest.WantText(t, a, "nav a[aria-current=page]", "Links")
	s.Web.Set("https://example.com/a", &links.FetchError{Reason: "host asked to wait", RetryAfter: time.Minute})
	apptest.WantText(t, s.Submit(a, `form[action$="/refresh"]`), ".flash.bad", "The site asked for a pause.")
	a = s.Submit(a, `form[action$="/expired"]`)
	apptest.WantText(t, a, ".flash", "1 link expired.")
	apptest.WantText(t, a, ".state", "Hidden from the lists")
	a = s.Submit(a, `.actions form[action$="/expired"]`)
	apptest.WantText(t, a, ".flash", "1 link revived.")
	a = s.Submit(a, `form[action$="/delete"]`)
	apptest.WantText(t, a, ".flash", "1 link deleted.")
	apptest.WantStatus(t, s.Get(path), http.StatusNotFound)
	s.Submit(a, ".flash form")
	a = s.Get(path)
	apptest.WantText(t, a, "h1", "Mine <b>")
	apptest.WantText(t, a, ".facts", "Views 0")
	if got := s.Get("/links/random").Header.Get("Location"); got != path {
		t.Errorf("the random link is %q", got)
	}
}

func TestMovedAndDeadLinksOnTheOverview(t *testing.T) {
	s := apptest.NewSite(t)
	moved, gone := s.Save("https://example.com/old"), s.Save("https://example.com/gone")
	s.Web.Set("https://example.com/old", links.Page{Status: 200, URL: "https://example.com/new", Permanent: true, Title: "New"})
	s.Web.Set("https://example.com/gone", links.Page{Status: 404, URL: "https://example.com/gone"})
	s.Clock.Advance(8 * 24 * time.Hour)
	due, err := s.Links.ClaimDue(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range due {
		if _, err := s.Links.Check(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	a := s.Get("/")
	apptest.WantText(t, a, ".attention .moved", "Now at https://example.com/new")
	apptest.WantText(t, a, ".attention .dead", "expired")
	apptest.WantText(t, a, ".attention .dead", "gone")
	apptest.WantText(t, a, ".tiles", "0 dead")
	apptest.WantText(t, a, ".tiles", "1 expired")
	if strings.Contains(apptest.Text(a, "aside"), "Popular") {
		t.Error("links that nobody viewed are shown as popular")
	}
	apptest.WantText(t, s.Get("/links/"+gone.ID), ".state", "expired")
	a = s.Submit(a, `.attention form[action$="/move"]`)
	apptest.WantText(t, a, ".flash", "The new address is in use.")
	apptest.WantCount(t, a, ".attention .moved", 0)
	apptest.WantText(t, s.Get("/links/"+moved.ID), ".address", "https://example.com/new")
}

func TestRenameAsksBeforeItMerges(t *testing.T) {
	s := apptest.NewSite(t)
	s.Save("https://example.com/a", "golang")
	s.Save("https://example.com/b", "Go")
	a := s.Get("/tags?q=golang")
	apptest.WantCount(t, a, "tbody tr", 1)
	path := a.Find("tbody form").AttrOr("action", "")

	a = s.Post(path, url.Values{"name": {"  "}, "back": {"/tags?q=golang"}})
	apptest.WantStatus(t, a, http.StatusBadRequest)
	apptest.WantText(t, a, "#name-error", "Must not be empty.")
	a = s.Post(path, url.Values{"name": {"go"}, "back": {"/tags?q=golang"}})
	apptest.WantStatus(t, a, http.StatusConflict)
	apptest.WantText(t, a, "details[open]", "There is a tag Go already, on 1 link.")
	a = s.Submit(a, "details[open] form")
	apptest.WantText(t, a, ".flash", "Tags merged.")
	a = s.Get("/tags")
	apptest.WantCount(t, a, "tbody tr", 1)
	apptest.WantText(t, a, "tbody .num", "2")

	a = s.Follow(a.Find("tbody form").AttrOr("action", ""), url.Values{"name": {"GO"}})
	apptest.WantText(t, a, ".flash", "Tag renamed.")
	apptest.WantText(t, a, "tbody .tag", "GO")
}

func TestJobsPages(t *testing.T) {
	s := apptest.NewSite(t)
	next := models.At(s.Clock.Now().Add(time.Hour))
	if err := s.Jobs.Declare(t.Context(), schedule.Job{ID: "revalidation", Schedule: "@every 1h", NextRunAt: next}); err != nil {
		t.Fatal(err)
	}
	a := s.Get("/admin/jobs")
	apptest.WantText(t, a, "tbody", "revalidation every hour never in 1 h")
	apptest.WantCount(t, a, `tbody [title="@every 1h"]`, 1)
	a = s.Submit(a, "tbody form")
	apptest.WantText(t, a, ".flash", "starts within moments")
	apptest.WantText(t, s.Get("/admin/jobs/revalidation"), ".empty", "No runs yet")
	apptest.WantStatus(t, s.Get("/admin/jobs/revalidation?page_token=%21"), http.StatusBadRequest)
	apptest.WantStatus(t, s.Post("/admin/jobs/none/run", nil), http.StatusNotFound)
	if got := s.Get("/admin").Header.Get("Location"); got != "/admin/jobs" {
		t.Errorf("/admin leads to %q", got)
	}
}
