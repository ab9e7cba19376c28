package links_test

import (
	"net/http"
	"sync"
	"testing"

	"linkwatch/app"
	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
	"linkwatch/outbound"
)

// odd are paths as they are written, and as a browser requests them.
var odd = map[string]string{
	"/foo%": "/foo%25", "/a b|c": "/a%20b|c", `/x\..\y`: "/y", "/q?a=\"100%\" #f": "/q?a=%22100%25%22", "/ü\u3000#f": "/%C3%BC", "/p\t\r\nq": "/pq",
}

// What is stored is what is requested, by saves, rechecks and refreshes.
func TestRequestedURLs(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		var mu sync.Mutex
		var asked []string
		s := apptest.NewSite(t, func(_ http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, r.RequestURI)
		})
		for path, want := range odd {
			asked = nil
			l, created, err := w.Add(t.Context(), links.New{URL: s + path})
			if err != nil || !created || l.CanonicalURL != s+want {
				t.Fatalf("%q is saved as %q: %v", path, l.CanonicalURL, err)
			}
			if _, err := w.Refresh(t.Context(), l.ID); err != nil {
				t.Error(err)
			}
			l.FetchedTitle = "read before" // a check asks by HEAD then
			if _, err := w.Check(t.Context(), links.Claimed{Link: l}); err != nil {
				t.Error(err)
			}
			if len(asked) != 3 || asked[0] != want || asked[1] != want || asked[2] != want {
				t.Errorf("%q is requested as %q, want %q", path, asked, want)
			}
		}
	})
}

// A link to a private address is saved if it is forced, and never requested.
func TestForcedPrivateAddress(t *testing.T) {
	s := apptest.NewSite(t, func(http.ResponseWriter, *http.Request) { t.Error("a private address was requested") })
	client := outbound.New(outbound.Options{})
	defer client.Close()
	store := links.NewStore(modelstest.New(t), modelstest.NewClock().Now, app.NewFetcher(client), links.Options{CheckInterval: week})
	if _, _, err := store.Add(t.Context(), links.New{URL: s}); models.CodeOf(err) != models.CodeBlocked {
		t.Errorf("saved: %v", err)
	}
	l, created, err := store.Add(t.Context(), links.New{URL: s, Force: true})
	if err != nil || !created || l.Health != links.Blocked || l.Title != s {
		t.Errorf("got %+v, %v", l, err)
	}
	if l, err = store.Recheck(t.Context(), l.ID); err != nil || l.Health != links.Blocked || l.Expired() {
		t.Errorf("got %+v, %v", l, err)
	}
}
