package static

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHandler(t *testing.T) {
	for path, want := range map[string]struct {
		status int
		kept   bool
	}{
		Path("app.css"):                {200, true},
		Path("vendor/htmx.min.js"):     {200, true},
		"/static/0123456789ab/app.css": {200, false},
		Path("none.css"):               {404, false},
		Path("vendor"):                 {404, false},
		Path("../static.go"):           {404, false},
		"/static/":                     {404, false},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.URL.Path = path
		Handler().ServeHTTP(w, r)
		if w.Code != want.status {
			t.Errorf("%s: status %d, want %d", path, w.Code, want.status)
		}
		if kept := strings.Contains(w.Header().Get("Cache-Control"), "immutable"); kept != want.kept {
			t.Errorf("%s: kept for good: %t, want %t", path, kept, want.kept)
		}
	}
}
