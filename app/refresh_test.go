package app_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models/links"
)

// A page that a browser leaves within seconds is a redirect of a link, but not a permanent one.
func TestFetchFollowsRefreshes(t *testing.T) {
	s := apptest.NewSite(t, func(rw http.ResponseWriter, r *http.Request) {
		refresh := func(to string) {
			_, _ = fmt.Fprintf(rw, `<!doctype html><meta http-equiv="refresh" content="0; url=%s"><title>Redirecting</title>`, to)
		}
		path := r.URL.Path
		n, hops := strings.CutPrefix(path, "/hops/")
		remaining, _ := strconv.Atoi(n)
		switch {
		case path == "/old":
			http.Redirect(rw, r, "/moved", http.StatusMovedPermanently)
		case path == "/moved":
			refresh("/home")
		case path == "/header":
			rw.Header().Set("Refresh", "5; url=/home")
			rw.Header().Set("Content-Type", "application/json")
		case path == "/missing":
			rw.WriteHeader(http.StatusNotFound)
			refresh("/home")
		case hops && remaining > 0 && r.URL.RawQuery != "" && remaining%2 == 0:
			http.Redirect(rw, r, fmt.Sprintf("/hops/%d?", remaining-1)+r.URL.RawQuery, http.StatusFound)
		case hops && remaining > 0:
			refresh(fmt.Sprintf("/hops/%d?", remaining-1) + r.URL.RawQuery)
		case strings.HasPrefix(path, "/to/"):
			refresh(strings.TrimPrefix(r.RequestURI, "/to/"))
		case strings.HasPrefix(path, "/slide"):
			_, _ = fmt.Fprintf(rw, `<!doctype html><meta http-equiv="refresh" content="5; url=%sx"><title>Slide</title>`, path)
		case path == "/reload":
			refresh("/reload#a")
		default:
			_, _ = fmt.Fprint(rw, `<head><title>Home</title></head>`)
		}
	})
	fetcher := apptest.NewFetcher(t)
	for path, want := range map[string]links.Page{
		"/to//home":          {Status: 200, URL: s + "/to//home", Title: "Home"},
		"/header":            {Status: 200, URL: s + "/header", Title: "Home"},
		"/old":               {Status: 200, URL: s + "/moved", Title: "Home", Permanent: true},
		"/missing":           {Status: 404, URL: s + "/missing", Title: "Redirecting"},
		"/to//missing":       {Status: 404, URL: s + "/to//missing", Title: "Redirecting"},
		"/hops/4":            {Status: 200, URL: s + "/hops/4", Title: "Home"},
		"/hops/4?mixed":      {Status: 200, URL: s + "/hops/3?mixed", Title: "Home"},
		"/reload":            {Status: 200, URL: s + "/reload", Title: "Redirecting"},
		"/slide":             {Status: 200, URL: s + "/slide", Title: "Slide"}, // each goes to the next
		"/to/mailto:a@b.com": {Status: 200, URL: s + "/to/mailto:a@b.com", Title: "Redirecting"},
	} {
		p, err := fetcher.Fetch(t.Context(), s+path)
		if err != nil || p != want {
			t.Errorf("%s: got %+v, %v\nwant %+v", path, p, err, want)
		}
	}
	for path, want := range map[string]string{
		"/hops/5":                      "too many redirects",
		"/hops/5?mixed":                "too many redirects",
		"/hops/6?mixed":                "too many redirects",
		"/to/http://127.0.0.1:1/":      "connection refused",
		"/to/http://169.254.169.254/x": "address not allowed",
	} {
		p, err := fetcher.Fetch(t.Context(), s+path)
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %+v, %v; want %q", path, p, err, want)
		}
	}
	if p, err := fetcher.Probe(t.Context(), s+"/to//missing"); err != nil || p.Status != http.StatusOK {
		t.Errorf("probe: got %+v, %v", p, err) // a HEAD has no page to read
	}
}

// All pages together have the time of one.
func TestRefreshesHaveOneTimeLimit(t *testing.T) {
	t.Parallel()
	s := apptest.NewSite(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Refresh", "0; url=/x"+r.URL.Path)
		if f, ok := rw.(http.Flusher); ok {
			f.Flush()
		}
		select {
		case <-r.Context().Done():
		case <-time.After(links.FetchTimeout * 2 / 5):
		}
	})
	started := time.Now()
	p, err := apptest.NewFetcher(t).Fetch(t.Context(), s+"/")
	if err == nil || err.Error() != "timed out" || time.Since(started) > links.FetchTimeout*3/2 {
		t.Errorf("got %+v, %v after %v", p, err, time.Since(started))
	}
}

// Only a page that a browser shows as HTML has a title.
func TestTitlesOfOtherContent(t *testing.T) {
	const page = "<!doctype html><title>T</title><meta property=og:title content=O>"
	s := apptest.NewSite(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header()["Content-Type"] = []string{r.URL.Query().Get("type")}
		if r.URL.RawQuery == "" {
			rw.Header()["Content-Type"] = nil
		}
		_, _ = fmt.Fprint(rw, page)
	})
	fetcher := apptest.NewFetcher(t)
	for query, want := range map[string]string{
		"": "O", "?type=text/html": "O", "?type=application/xhtml%2Bxml": "O", "?type=application/json": "", "?type=application/ld%2Bjson": "",
		"?type=text/plain": "", "?type=text/css": "", "?type=text/csv": "", "?type=application/javascript": "", "?type=image/svg%2Bxml": "",
		"?type=application/octet-stream": "", "?type=application/pdf": "",
	} {
		if p, err := fetcher.Fetch(t.Context(), s+"/"+query); err != nil || p.Status != 200 || p.Title != want || p.OpenGraph.Title != want {
			t.Errorf("%s: got %+v, %v", query, p, err)
		}
	}
}
