package handlers_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"linkwatch/handlers/middleware"
	"linkwatch/models/schedule"
)

// TestPagesLinkOnlyToAllowedPages: pages for editors and viewers, including the page of a 403, have no links to
// pages that they may not open.
func TestPagesLinkOnlyToAllowedPages(t *testing.T) {
	s := newTeam(t)
	s.Save("https://example.test/")
	s.Must(s.Jobs.Declare(t.Context(), schedule.Job{ID: "broken", Schedule: "@hourly", NextRunAt: s.Jobs.Now()}))
	for role, admin := range map[middleware.Role]bool{middleware.Viewer: false, middleware.Editor: false, middleware.Admin: true} {
		cookie := s.session(s.users[role])
		for path, code := range map[string]int{"/": 200, "/links": 200, "/search": 200, "/search?q=a": 200, "/settings": 200, "/help": 200, "/help/access": 200, "/nowhere": 404, "/admin/audit": 403} {
			if admin && code == 403 {
				code = 200
			}
			w := s.ask("GET", path, "Cookie", cookie, "Accept", "text/html")
			if w.Code != code {
				t.Errorf("%s as %s: got %d", path, role, w.Code)
			}
			page, err := goquery.NewDocumentFromReader(w.Body)
			s.Must(err)
			if got := page.Find(`a[href^="/admin"]`).Length() > 0; got != admin {
				t.Errorf("%s as %s: got links to admin pages: %t", path, role, got)
			}
			if got := page.Find("[data-new-link]").Length() > 0; got && role == middleware.Viewer {
				t.Errorf("%s as viewer: got a form that adds items", path)
			}
			if strings.HasPrefix(path, "/search") && role == middleware.Viewer && strings.Contains(page.Find("main .actions-list").Text(), "Add ") {
				t.Errorf("%s as viewer: got %s", path, page.Find("main").Text())
			}
			if code == http.StatusForbidden && (!strings.Contains(page.Find(".account-link").Text(), s.users[role].Username) || !strings.Contains(page.Text(), "Ask an admin")) {
				t.Errorf("%s as %s: got %s", path, role, page.Text())
			}
		}
	}
}
