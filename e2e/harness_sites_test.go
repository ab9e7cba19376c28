//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"linkwatch/jobs/sites/standin"
)

// pageRow selects the rows of the list of pages of a website.
const pageRow = "#pages tbody tr"

// searchEngines starts fake services of Google and IndexNow. settings point the program to them.
func searchEngines(t *testing.T) (engine *standin.Server, settings []string) {
	t.Helper()
	engine = standin.New(t)
	for name, value := range engine.Settings() {
		settings = append(settings, name+"="+value)
	}
	return engine, settings
}

// sitemap serves a sitemap with the pages /p1 to /pN and returns its URL.
func (w *website) sitemap(pages int) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	for i := range pages {
		fmt.Fprintf(&b, "<url><loc>%s/p%d</loc><lastmod>2020-01-01</lastmod></url>", w.URL, i+1)
	}
	b.WriteString("</urlset>")
	return w.set("/sitemap.xml", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/xml")
		_, _ = rw.Write([]byte(b.String())) // the client may have disconnected
	})
}

// ownSite is a website in the API.
type ownSite struct {
	ID     string
	Google struct {
		LastError string `json:"last_error"`
	}
	Quota struct{ Publish quotaMeter }
	Pages struct {
		Total, Pending, Submitted, Indexed, Failed int
		NotIndexed                                 int `json:"not_indexed"`
	}
}

type quotaMeter struct {
	Used, Limit int
	ResetsAt    string `json:"resets_at"`
}

type submission struct {
	URL, Status string
	StatusCode  int `json:"status_code"`
}

func (s *Server) ownSite(id string) (w ownSite) {
	s.t.Helper()
	if status := s.Call("GET", "/v1/websites/"+id, nil, &w); status != http.StatusOK {
		s.t.Fatalf("get website: status %d", status)
	}
	return w
}

// runs starts a job now, unless it is running.
func (s *Server) runs(job string) {
	s.t.Helper()
	if status := s.Call("POST", "/v1/admin/jobs/"+job+"/run", nil, nil); status/100 != 2 && status != http.StatusConflict {
		s.t.Fatalf("run job %s: status %d", job, status)
	}
}

// pagesOf returns the paths of the first pages of a website.
func (s *Server) pagesOf(site string) (paths []string) {
	s.t.Helper()
	pages, _ := listed[struct{ ID string }](s, "/v1/websites/"+site+"/pages")
	for _, p := range pages {
		paths = append(paths, "/sites/"+site+"/pages/"+p.ID)
	}
	if len(paths) == 0 {
		s.t.Fatal("website has no pages")
	}
	return paths
}
