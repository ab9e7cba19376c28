package targets_test

import (
	"net/http"
	"slices"
	"sync"
	"testing"

	"linkwatch/outbound"
)

// A check requests the same URL as a browser.
func TestRequestedURLs(t *testing.T) {
	each(t, func(w world) {
		var mu sync.Mutex
		var asked []string
		s := w.site(func(_ http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, r.RequestURI)
		})
		w.start(2, outbound.Options{})
		w.add(s+"/foo%", s+"/a b|c", s+`/x\..\y`, s+"/q?a=\"100%\" #f", s+"/p\t\r\nq")
		w.recorded(5)
		mu.Lock()
		defer mu.Unlock()
		slices.Sort(asked)
		if want := []string{"/a%20b|c", "/foo%25", "/pq", "/q?a=%22100%25%22", "/y"}; !slices.Equal(asked, want) {
			t.Errorf("requested %q, want %q", asked, want)
		}
	})
}
