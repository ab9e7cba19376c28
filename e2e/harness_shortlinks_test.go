//go:build e2e

package e2e

import (
	"net/http"
	"testing"
)

// shortLinkRow is a selector: the rows of the list of short links.
const shortLinkRow = "#short-links tbody tr"

// follows visits a short link as a browser does, and returns the status and the destination.
func follows(t *testing.T, s *Server, key string) (status int, to string) {
	t.Helper()
	res := send(t, s, "GET", "/s/"+key, "", func(r *http.Request) {
		r.Header.Set("Accept", "text/html")
		r.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
		r.Header.Set("Referer", "https://news.example/today")
	})
	return res.StatusCode, res.Header.Get("Location")
}

// wantRedirect fails the test unless a short link responds with this status and destination.
func wantRedirect(t *testing.T, s *Server, key string, status int, to string) {
	t.Helper()
	if got, where := follows(t, s, key); got != status || where != to {
		t.Errorf("/s/%s: got %d to %q, want %d to %q", key, got, where, status, to)
	}
}
