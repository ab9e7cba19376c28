package static

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHandler(t *testing.T) {
	for _, path := range []string{Path("none.css"), Path("vendor"), Path("../static.go"), Path(""), "/static/", "/static"} {
		if Has(path) {
			t.Errorf("there is no file at %s", path)
		}
	}
	for path, kept := range map[string]bool{
		Path("app.css"):                true,
		Path("vendor/htmx.min.js"):     true,
		"/static/0123456789ab/app.css": false,
	} {
		if !Has(path) {
			t.Errorf("there is a file at %s", path)
		}
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.URL.Path = path
		Handler().ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Errorf("%s: status %d", path, w.Code)
		}
		if got := strings.Contains(w.Header().Get("Cache-Control"), "immutable"); got != kept {
			t.Errorf("%s: cached forever: %t, want %t", path, got, kept)
		}
	}
}
