package handlers_test

import (
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"testing"

	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
)

// tagID is the id of a tag, "" if there is none.
func (s *site) tagID(name string) string {
	s.t.Helper()
	tags, err := s.links.Tags(s.t.Context(), name, links.TagsByName, models.Page{Number: 1, Size: 100})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, tag := range tags.Items {
		if tag.Name == name {
			return tag.ID
		}
	}
	return ""
}

// The tag that a rename would merge into loses its last link between any two
// statements of the request.
func TestRenameTag_TargetVanishesMeanwhile(t *testing.T) {
	for n := 1; ; n++ {
		s := newSite(t)
		s.save("https://a.test", "from")
		l := s.save("https://b.test", "into")
		from, into := s.tagID("from"), s.tagID("into")
		left := n
		modelstest.AfterRead(t, s.db, func() {
			if left--; left != 0 {
				return
			}
			if err := s.links.RemoveTag(t.Context(), l.ID, into); err != nil {
				t.Error(err)
			}
		})
		a := s.post("/tags/"+from, url.Values{"name": {"into"}, "back": {"/tags"}})
		if a.StatusCode != http.StatusSeeOther && a.StatusCode != http.StatusConflict {
			t.Errorf("after statement %d: status %d: %s", n, a.StatusCode, text(a, "main"))
		}
		if left > 0 {
			if n < 3 {
				t.Errorf("the request sent %d statements", n-1)
			}
			return
		}
	}
}

// Clients merge the same tags at once, while others save links with them.
func TestRenameTag_ConcurrentMerges(t *testing.T) {
	s := newSite(t)
	var links []string
	for i := range 4 {
		links = append(links, s.save(fmt.Sprintf("https://a.test/%d", i), "one", "two").ID)
	}
	var clients sync.WaitGroup
	for i := range 4 {
		clients.Go(func() {
			for range 30 {
				from, to := "one", "two"
				if i%2 == 1 {
					from, to = to, from
				}
				if _, err := s.links.AddTags(t.Context(), links[i], []string{from}); err != nil {
					t.Error(err)
				}
				id := s.tagID(from)
				if id == "" {
					continue // merged by another client
				}
				for _, form := range []url.Values{{"name": {to}}, {"name": {to}, "merge": {"yes"}}} {
					switch a := s.post("/tags/"+id, form); a.StatusCode {
					case http.StatusSeeOther, http.StatusConflict, http.StatusNotFound:
					default:
						t.Errorf("%s to %s: status %d: %s", from, to, a.StatusCode, text(a, "main"))
					}
				}
			}
		})
	}
	clients.Wait()
}
