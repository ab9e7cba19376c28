package links_test

import (
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models/links"
)

func TestMovedAndDeadLinksOnTheOverview(t *testing.T) {
	s := apptest.New(t)
	moved, gone := s.Save("https://example.com/old"), s.Save("https://example.com/gone")
	s.Web.Set("https://example.com/old", links.Page{Status: 200, URL: "https://example.com/new", Permanent: true, Title: "New"})
	s.Web.Set("https://example.com/gone", links.Page{Status: 404, URL: "https://example.com/gone"})
	s.Clock.Advance(8 * 24 * time.Hour)
	for _, l := range []links.Link{moved, gone} {
		if _, err := s.Links.Recheck(t.Context(), l.ID); err != nil {
			t.Fatal(err)
		}
	}
	a := s.Get("/")
	apptest.WantText(t, a, ".attention .moved", "Moved to https://example.com/new")
	apptest.WantText(t, a, ".attention .dead", "expired")
	apptest.WantText(t, a, ".attention .dead", "gone")
	apptest.WantText(t, a, ".tiles", "0 dead")
	apptest.WantText(t, a, ".tiles", "1 expired")
	if strings.Contains(apptest.Text(a, "aside"), "Popular") {
		t.Error("got links without views as popular")
	}
	apptest.WantText(t, s.Get("/links/"+gone.ID), ".state", "expired")
	a = s.Submit(a, `.attention form[action$="/move"]`)
	apptest.WantText(t, a, ".flash", "URL updated.")
	apptest.WantCount(t, a, ".attention .moved", 0)
	apptest.WantText(t, s.Get("/links/"+moved.ID), ".address", "https://example.com/new")
}
