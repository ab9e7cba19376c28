package handlers_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/models/schedule"
)

func TestBulkOnPagesAndUndo(t *testing.T) {
	s := newSite(t)
	a, b := s.save("https://example.com/a", "one"), s.save("https://example.com/b")
	s.save("https://example.com/c")
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
		page := s.follow("/links/bulk", both(c.action, c.tags))
		wantText(t, page, ".flash", c.says)
		wantCount(t, page, ".row", c.rows)
		page = s.submit(page, ".flash form")
		wantText(t, page, ".flash", "Undone.")
		wantCount(t, page, ".row", 3)
		wantText(t, page, "#"+a.ID+" .tags", "one")
		if got := page.Find("#q").AttrOr("value", ""); got != "example" {
			t.Errorf("after %s and undo the query is %q", c.action, got)
		}
	}
	wantCount(t, s.get("/tags"), "tbody tr", 1) // x and y are gone again

	wantText(t, s.follow("/links/bulk", url.Values{"action": {"delete"}}), ".flash", "no link was selected")
	page := s.post("/links/bulk", both("tag", strings.Repeat("x", 99)))
	wantStatus(t, page, http.StatusBadRequest)
	wantText(t, page, "#bulk-error", "longer than")
	wantCount(t, page, ".row input[checked]", 2)
	wantStatus(t, s.post("/links/bulk", both("explode", "")), http.StatusBadRequest)
}

func TestBackStaysHere(t *testing.T) {
	s := newSite(t)
	for _, away := range []string{"https://evil.example/", "//evil.example/links", "/\\evil.example", "javascript:alert(1)", "/admin/jobs"} {
		l := s.save("https://example.com/a")
		got := s.post("/links/bulk", url.Values{"id": {l.ID}, "action": {"expire"}, "back": {away}}).Header.Get("Location")
		if !strings.HasPrefix(got, "/links?change=") {
			t.Errorf("back=%q leads to %q", away, got)
		}
		s.post("/links/"+l.ID+"/delete", nil)
	}
}

// TestUndoOfWhatWasSavedAgain: nothing comes back, and the page does not say so.
func TestUndoOfWhatWasSavedAgain(t *testing.T) {
	s := newSite(t)
	l := s.save("https://example.com/a")
	page := s.follow("/links/"+l.ID+"/delete", nil)
	s.save("https://example.com/a")
	wantText(t, s.submit(page, ".flash form"), ".flash", "Nothing could be taken back")
}

// TestNotesForAKnownLinkAreKept: what was typed for a link that was saved
// before stands with its notes.
func TestNotesForAKnownLinkAreKept(t *testing.T) {
	s := newSite(t)
	for _, notes := range []string{"first", "second", "second"} {
		s.follow("/links", url.Values{"url": {"https://example.com/a"}, "notes": {notes}})
	}
	found, err := s.links.List(t.Context(), links.Filter{}, models.Page{Number: 1, Size: 10})
	if err != nil || len(found.Items) != 1 || found.Items[0].Notes != "first\n\nsecond" {
		t.Errorf("%+v, %v", found.Items, err)
	}
}

// TestUnknownFilesAreProblems: also under /static/ an error is a page or a problem.
func TestUnknownFilesAreProblems(t *testing.T) {
	s := newSite(t)
	for _, path := range []string{"/static/", "/static/x/none.css"} {
		page := s.get(path)
		wantStatus(t, page, http.StatusNotFound)
		if !strings.Contains(page.body, "There is no such file.") {
			t.Errorf("%s: %s", path, page.body)
		}
	}
}

// TestWhatAnAddressSays: only a link's page offers to put a tag back.
func TestWhatAnAddressSays(t *testing.T) {
	s := newSite(t)
	l := s.save("https://example.com/a")
	wantCount(t, s.get("/links/"+l.ID+"?untagged=x"), ".flash form", 1)
	for _, path := range []string{"/?untagged=x", "/links?untagged=x", "/tags?untagged=x", "/?done=nonsense", "/links?change=x"} {
		wantCount(t, s.get(path), ".flash", 0)
	}
}

func TestBulkRefreshShowsProgress(t *testing.T) {
	s := newSite(t)
	l, m := s.save("https://example.com/a"), s.save("https://example.com/b")
	page := s.follow("/links/bulk", url.Values{"id": {l.ID, m.ID}, "action": {"refresh"}, "back": {"/links?tag=go"}})
	wantText(t, page, "#progress", "0 of 2 links")
	wantCount(t, page, `#progress[hx-trigger="every 1s"]`, 1)
	if !strings.Contains(page.body, `http-equiv="refresh"`) {
		t.Error("a browser without JavaScript never asks again")
	}
	for range 2 {
		refreshOne(t, s.links)
	}
	path := page.Find("#progress").AttrOr("hx-get", "")
	part := s.part(path)
	wantText(t, part, "#progress", "Done: 2 links fetched.")
	wantCount(t, part, "[hx-trigger]", 0)
	page = s.get(path + "?back=" + url.QueryEscape("/links?tag=go"))
	wantCount(t, page, `main a[href="/links?tag=go"]`, 1)
	if strings.Contains(page.body, `http-equiv="refresh"`) {
		t.Error("a finished page still reloads itself")
	}
}

func TestLinkPage(t *testing.T) {
	s := newSite(t)
	s.web.set("https://example.com/a", links.Page{
		Status: 200, URL: "https://example.com/a", Title: "Fetched",
		OpenGraph: links.OpenGraph{Description: hostile, SiteName: "The site", Image: "https://example.com/i.png"},
	})
	l := s.save("https://example.com/a", "one", "two")
	path := "/links/" + l.ID
	a := s.get(path)
	wantText(t, a, "h1", "Fetched")
	wantText(t, a, ".description", hostile)
	wantCount(t, a, "main script", 0)
	if img := a.Find(".picture img"); img.AttrOr("referrerpolicy", "") != "no-referrer" || img.AttrOr("loading", "") != "lazy" {
		t.Error("the picture tells its host who looks, or does not wait")
	}

	a = s.follow(path, url.Values{"title": {"Mine <b>"}, "notes": {"line\nline"}})
	wantText(t, a, "h1", "Mine <b>")
	wantText(t, a, ".notes", "line line")
	a = s.post(path, url.Values{"title": {strings.Repeat("t", links.MaxTitle+1)}, "notes": {"typed"}})
	wantStatus(t, a, http.StatusBadRequest)
	wantText(t, a, "#title-error", "longer")
	wantText(t, a, "details[open] textarea", "typed")

	a = s.follow(path+"/tags", url.Values{"tags": {"three"}})
	wantText(t, a, ".tag-list", "one two three")
	a = s.submit(a, ".tag-list li:first-child form")
	wantText(t, a, ".flash", "Tag removed: one")
	wantText(t, a, ".tag-list", "two three")
	a = s.submit(a, ".flash form")
	wantText(t, a, ".tag-list", "one")
	wantStatus(t, s.post(path+"/tags", url.Values{"tags": {strings.Repeat("x", 99)}}), http.StatusBadRequest)

	a = s.submit(s.get(path), `form[action$="/refresh"]`)
	wantText(t, a, ".flash", "Fetched again")
	wantText(t, a, "nav a[aria-current=page]", "Links")
	s.web.set("https://example.com/a", &links.FetchError{Reason: "host asked to wait", RetryAfter: time.Minute})
	wantText(t, s.submit(a, `form[action$="/refresh"]`), ".flash.bad", "The site asked for a pause.")
	a = s.submit(a, `form[action$="/expired"]`)
	wantText(t, a, ".flash", "1 link expired.")
	wantText(t, a, ".state", "Hidden from the lists")
	a = s.submit(a, `.actions form[action$="/expired"]`)
	wantText(t, a, ".flash", "1 link revived.")
	a = s.submit(a, `form[action$="/delete"]`)
	wantText(t, a, ".flash", "1 link deleted.")
	wantStatus(t, s.get(path), http.StatusNotFound)
	s.submit(a, ".flash form")
	a = s.get(path)
	wantText(t, a, "h1", "Mine <b>")
	wantText(t, a, ".facts", "Views 0")
	if got := s.get("/links/random").Header.Get("Location"); got != path {
		t.Errorf("the random link is %q", got)
	}
}

func TestMovedAndDeadLinksOnTheOverview(t *testing.T) {
	s := newSite(t)
	moved, gone := s.save("https://example.com/old"), s.save("https://example.com/gone")
	s.web.set("https://example.com/old", links.Page{Status: 200, URL: "https://example.com/new", Permanent: true, Title: "New"})
	s.web.set("https://example.com/gone", links.Page{Status: 404, URL: "https://example.com/gone"})
	s.clock.Advance(8 * 24 * time.Hour)
	due, err := s.links.Claim(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range due {
		if _, err := s.links.Check(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	a := s.get("/")
	wantText(t, a, ".attention .moved", "Now at https://example.com/new")
	wantText(t, a, ".attention .dead", "expired")
	wantText(t, a, ".attention .dead", "gone")
	wantText(t, a, ".tiles", "0 dead")
	wantText(t, a, ".tiles", "1 expired")
	if strings.Contains(text(a, "aside"), "Popular") {
		t.Error("links that nobody viewed are shown as popular")
	}
	wantText(t, s.get("/links/"+gone.ID), ".state", "expired")
	a = s.submit(a, `.attention form[action$="/move"]`)
	wantText(t, a, ".flash", "The new address is in use.")
	wantCount(t, a, ".attention .moved", 0)
	wantText(t, s.get("/links/"+moved.ID), ".address", "https://example.com/new")
}

func TestRenameAsksBeforeItMerges(t *testing.T) {
	s := newSite(t)
	s.save("https://example.com/a", "golang")
	s.save("https://example.com/b", "Go")
	a := s.get("/tags?q=golang")
	wantCount(t, a, "tbody tr", 1)
	path := a.Find("tbody form").AttrOr("action", "")

	a = s.post(path, url.Values{"name": {"  "}, "back": {"/tags?q=golang"}})
	wantStatus(t, a, http.StatusBadRequest)
	wantText(t, a, "#name-error", "Must not be empty.")
	a = s.post(path, url.Values{"name": {"go"}, "back": {"/tags?q=golang"}})
	wantStatus(t, a, http.StatusConflict)
	wantText(t, a, "details[open]", "There is a tag Go already, on 1 link.")
	a = s.submit(a, "details[open] form")
	wantText(t, a, ".flash", "Tags merged.")
	a = s.get("/tags")
	wantCount(t, a, "tbody tr", 1)
	wantText(t, a, "tbody .num", "2")

	a = s.follow(a.Find("tbody form").AttrOr("action", ""), url.Values{"name": {"GO"}})
	wantText(t, a, ".flash", "Tag renamed.")
	wantText(t, a, "tbody .tag", "GO")
}

func TestJobsPages(t *testing.T) {
	s := newSite(t)
	next := models.At(s.clock.Now().Add(time.Hour))
	if err := s.jobs.Declare(t.Context(), schedule.Job{ID: "revalidation", Schedule: "@every 1h", NextRunAt: next}); err != nil {
		t.Fatal(err)
	}
	a := s.get("/admin/jobs")
	wantText(t, a, "tbody", "revalidation every hour never in 1 h")
	wantCount(t, a, `tbody [title="@every 1h"]`, 1)
	a = s.submit(a, "tbody form")
	wantText(t, a, ".flash", "starts within moments")
	wantText(t, s.get("/admin/jobs/revalidation"), ".empty", "No runs yet")
	wantStatus(t, s.get("/admin/jobs/revalidation?page_token=%21"), http.StatusBadRequest)
	wantStatus(t, s.post("/admin/jobs/none/run", nil), http.StatusNotFound)
	if got := s.get("/admin").Header.Get("Location"); got != "/admin/jobs" {
		t.Errorf("/admin leads to %q", got)
	}
}
