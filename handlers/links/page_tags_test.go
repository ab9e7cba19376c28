package links_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
)

func TestRenameAsksBeforeItMerges(t *testing.T) {
	s := apptest.New(t)
	s.Save("https://example.com/a", "golang")
	s.Save("https://example.com/b", "Go")
	a := s.Get("/tags?q=golang")
	apptest.WantCount(t, a, "tbody tr", 1)
	path := a.Find("tbody form").AttrOr("action", "")

	a = s.Post(path, url.Values{"name": {"  "}, "back": {"/tags?q=golang"}})
	apptest.WantStatus(t, a, http.StatusBadRequest)
	apptest.WantText(t, a, "#name-error", "Name must not be empty.")
	a = s.Post(path, url.Values{"name": {"go"}, "back": {"/tags?q=golang"}})
	apptest.WantStatus(t, a, http.StatusConflict)
	apptest.WantText(t, a, "details[open]", "The tag Go exists, on 1 link.")
	a = s.Submit(a, "details[open] form")
	apptest.WantText(t, a, ".flash", "Tags merged.")
	a = s.Get("/tags")
	apptest.WantCount(t, a, "tbody tr", 1)
	apptest.WantText(t, a, "tbody .num", "2")

	a = s.Follow(a.Find("tbody form").AttrOr("action", ""), url.Values{"name": {"GO"}})
	apptest.WantText(t, a, ".flash", "Tag renamed.")
	apptest.WantText(t, a, "tbody .tag", "GO")
}

// The list of tags takes the names of its orders, and those of earlier versions.
func TestTagsPage_Orders(t *testing.T) {
	s := apptest.New(t)
	s.Save("http://a.test/1", "often", "zebra")
	s.Save("http://a.test/2", "often")
	s.Save("http://a.test/3", "alpha")
	first := map[string]string{"": "alpha", "name": "alpha", "link_count": "often", "count": "often", "last_used_at": "alpha", "recent": "alpha"}
	for order, want := range first {
		a := s.Get("/tags?sort=" + order)
		apptest.WantStatus(t, a, 200)
		if got := a.Find("tbody tr").First().Text(); !strings.Contains(got, want) {
			t.Errorf("sort=%s: the first tag is %q, want %s", order, got, want)
		}
	}
	apptest.WantStatus(t, s.Get("/tags?sort=x"), 400)
}

// The target of a merge loses its last link between any two statements of the request.
func TestRenameTag_TargetVanishesMeanwhile(t *testing.T) {
	for n := 1; ; n++ {
		s := apptest.New(t)
		s.Save("https://a.test", "from")
		l := s.Save("https://b.test", "into")
		from, into := tagID(s, "from"), tagID(s, "into")
		left := n
		modelstest.AfterRead(t, s.DB, func() {
			if left--; left != 0 {
				return
			}
			if err := s.Links.RemoveTag(t.Context(), l.ID, into); err != nil {
				t.Error(err)
			}
		})
		a := s.Post("/tags/"+from, url.Values{"name": {"into"}, "back": {"/tags"}})
		if a.StatusCode != http.StatusSeeOther && a.StatusCode != http.StatusConflict {
			t.Errorf("after statement %d: got status %d: %s", n, a.StatusCode, apptest.Text(a, "main"))
		}
		if left > 0 {
			if n < 3 {
				t.Errorf("got only %d statements", n-1)
			}
			return
		}
	}
}

// Clients merge the same tags concurrently, while others save links with them.
func TestRenameTag_ConcurrentMerges(t *testing.T) {
	s := apptest.New(t)
	var links []string
	for i := range 4 {
		links = append(links, s.Save(fmt.Sprintf("https://a.test/%d", i), "one", "two").ID)
	}
	var clients sync.WaitGroup
	for i := range 4 {
		clients.Go(func() {
			for range 30 {
				from, to := "one", "two"
				if i%2 == 1 {
					from, to = to, from
				}
				if _, err := s.Links.AddTags(t.Context(), links[i], []string{from}); err != nil {
					t.Error(err)
				}
				id := tagID(s, from)
				if id == "" {
					continue // merged by another client
				}
				for _, form := range []url.Values{{"name": {to}}, {"name": {to}, "merge": {"yes"}}} {
					switch a := s.Post("/tags/"+id, form); a.StatusCode {
					case http.StatusSeeOther, http.StatusConflict, http.StatusNotFound:
					default:
						t.Errorf("%s to %s: got status %d: %s", from, to, a.StatusCode, apptest.Text(a, "main"))
					}
				}
			}
		})
	}
	clients.Wait()
}

// tagID returns the id of a tag, "" if it does not exist.
func tagID(s *apptest.App, name string) string {
	s.Helper()
	tags, err := s.Links.Tags(s.Context(), name, links.TagsByName, models.Page{Number: 1, Size: 100})
	if err != nil {
		s.Fatal(err)
	}
	for _, tag := range tags.Items {
		if tag.Name == name {
			return tag.ID
		}
	}
	return ""
}

// After a rename, a list with a filter shows the renamed tag.
func TestRenameKeepsTheTagInTheList(t *testing.T) {
	s := apptest.New(t)
	s.Save("https://example.com/a", "golnag", "golden")
	for _, c := range []struct{ list, name string }{
		{"/tags?q=golnag&sort=link_count", "golang"}, // the filter no longer matches
		{"/tags?q=gol", "Golang 2"},                  // it does
	} {
		a := s.Get(c.list)
		row := a.Find(`tbody tr:contains("gol")`).Last()
		a = s.Follow(row.Find("form").AttrOr("action", ""), url.Values{"name": {c.name}, "back": {c.list}})
		apptest.WantText(t, a, ".flash", "Tag renamed.")
		apptest.WantText(t, a, "tbody", c.name)
	}
}
