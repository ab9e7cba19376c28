package links_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"linkwatch/app/apptest"
)

func TestBulkOnPagesAndUndo(t *testing.T) {
	s := apptest.New(t)
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
			t.Errorf("after %s and undo: got query %q", c.action, got)
		}
	}
	apptest.WantCount(t, s.Get("/tags"), "tbody tr", 1) // x and y are deleted again

	apptest.WantText(t, s.Follow("/links/bulk", url.Values{"action": {"delete"}}), ".flash", "Select at least one link")
	page := s.Post("/links/bulk", both("tag", strings.Repeat("x", 99)))
	apptest.WantStatus(t, page, http.StatusBadRequest)
	apptest.WantText(t, page, "#bulk-error", "A tag must have at most 64 characters.")
	apptest.WantCount(t, page, ".row input[checked]", 2)
	apptest.WantStatus(t, s.Post("/links/bulk", both("explode", "")), http.StatusBadRequest)
}

// TestUndoAfterSavingAgain: an undo restores nothing, and the page does not report a restore.
func TestUndoAfterSavingAgain(t *testing.T) {
	s := apptest.New(t)
	l := s.Save("https://example.com/a")
	page := s.Follow("/links/"+l.ID+"/delete", nil)
	s.Save("https://example.com/a")
	apptest.WantText(t, s.Submit(page, ".flash form"), ".flash", "Could not undo")
}

func TestBackStaysOnThisSite(t *testing.T) {
	s := apptest.New(t)
	for _, away := range []string{"https://evil.example/", "//evil.example/links", "/\\evil.example", "javascript:alert(1)", "/admin/jobs"} {
		l := s.Save("https://example.com/a")
		got := s.Post("/links/bulk", url.Values{"id": {l.ID}, "action": {"expire"}, "back": {away}}).Header.Get("Location")
		if !strings.HasPrefix(got, "/links?change=") {
			t.Errorf("back=%q: got location %q", away, got)
		}
		s.Post("/links/"+l.ID+"/delete", nil)
	}
}

func TestBulkRefreshShowsProgress(t *testing.T) {
	s := apptest.New(t)
	l, m := s.Save("https://example.com/a"), s.Save("https://example.com/b")
	page := s.Follow("/links/bulk", url.Values{"id": {l.ID, m.ID}, "action": {"refresh"}, "back": {"/links?tag=go"}})
	apptest.WantText(t, page, "#progress", "0 of 2 links")
	apptest.WantCount(t, page, `#progress[hx-trigger="every 1s"]`, 1)
	if !strings.Contains(page.HTML, `http-equiv="refresh"`) {
		t.Error("the page does not reload without JavaScript")
	}
	for range 2 {
		refreshOne(s)
	}
	path := page.Find("#progress").AttrOr("hx-get", "")
	part := s.Part(path)
	apptest.WantText(t, part, "#progress", "Done: 2 links refreshed.")
	apptest.WantCount(t, part, "[hx-trigger]", 0)
	page = s.Get(path + "?back=" + url.QueryEscape("/links?tag=go"))
	apptest.WantCount(t, page, `main a[href="/links?tag=go"]`, 1)
	if strings.Contains(page.HTML, `http-equiv="refresh"`) {
		t.Error("the finished page still reloads itself")
	}
}
