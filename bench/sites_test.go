//go:build e2e

package bench

import (
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/ncruces/go-sqlite3/driver" // for the baseline

	"linkwatch/e2e"
	"linkwatch/models/modelstest"
)

const (
	siteMaps = 10     // sitemaps in the index
	mapPages = 50_000 // URLs per sitemap
)

// TestSiteFigures measures how the binary reads sitemaps with 500,000 URLs, and how fast it shows that website. It
// asserts no times.
func TestSiteFigures(t *testing.T) {
	if !*figures {
		t.Skip("skipped without -figures (task bench)")
	}
	var etags atomic.Bool
	etags.Store(true)
	site := largeSite(t, &etags)
	table("A sitemap index of %d sitemaps with %d URLs each", siteMaps, mapPages)
	row("baseline: INSERT of the URLs into a table with one index", "", "%.1f s", insertPages(t).Seconds())
	t.Run("sqlite", func(t *testing.T) { siteFigures(t, site, &etags, "SQLite") })
	if os.Getenv("TEST_POSTGRES_URL") != "" {
		t.Run("postgres", func(t *testing.T) {
			siteFigures(t, site, &etags, "PostgreSQL", "DATABASE_URL="+modelstest.NewPostgres(t))
		})
	}
}

// siteFigures measures one database.
func siteFigures(t *testing.T, site string, etags *atomic.Bool, name string, env ...string) {
	etags.Store(true)
	s := e2e.Start(t, env...)
	defer s.Stop()
	var website struct{ ID string }
	if status := s.Call("POST", "/v1/websites", map[string]any{"site_url": site}, &website); status != http.StatusCreated {
		t.Fatalf("add website: status %d", status)
	}
	path := "/v1/websites/" + website.ID
	start := time.Now()
	if status := s.Call("POST", path+"/sitemaps", map[string]any{"url": site + "index.xml"}, nil); status != http.StatusCreated {
		t.Fatalf("add sitemap: status %d", status)
	}
	wholeSite(t, s, path, start)
	row(name+": read and store all sitemaps", "≤ 15 s", "%.1f s", time.Since(start).Seconds())
	row(name+": memory at most", "≤ 150 MB", "%d MB", s.PeakMemory()>>20)
	for _, c := range []struct {
		what  string
		etags bool
	}{{"refresh, unchanged, with ETags", true}, {"refresh, unchanged, without ETags", false}} {
		etags.Store(c.etags)
		start = time.Now()
		if status := s.Call("POST", path+"/refresh", nil, nil); status != http.StatusAccepted {
			t.Fatalf("refresh: status %d", status)
		}
		wholeSite(t, s, path, start)
		row(c.what, "≤ 5 s", "%.1f s", time.Since(start).Seconds())
	}
	row(name+": memory at most", "≤ 150 MB", "%d MB", s.PeakMemory()>>20)
	measurePath(t, s, "list of websites", "≤ 50 ms", "/sites")
	measurePath(t, s, "page of the website", "≤ 50 ms", "/sites/"+website.ID)
	measurePath(t, s, "queue", "≤ 50 ms", "/sites/"+website.ID+"/pages")
	measurePath(t, s, "queue, pending pages", "≤ 50 ms", "/sites/"+website.ID+"/pages?status=pending")
	measurePath(t, s, "queue in the API", "", path+"/pages")
	measurePath(t, s, "queue, filtered by a frequent pattern", "", "/sites/"+website.ID+"/pages?q=/blog/*")
	measurePath(t, s, "queue, filtered by a rare pattern", "", "/sites/"+website.ID+"/pages?q=/nothing/*")
}

// wholeSite waits until all sitemaps were read after a time.
func wholeSite(t *testing.T, s *e2e.Server, path string, after time.Time) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var list struct {
			Items []struct {
				Kind       string
				Pages      int
				LastReadAt *time.Time `json:"last_read_at"`
				LastError  *string    `json:"last_error"`
			}
		}
		if status := s.Call("GET", path+"/sitemaps", nil, &list); status != http.StatusOK {
			t.Fatalf("list sitemaps: status %d", status)
		}
		read, pages := 0, 0
		for _, m := range list.Items {
			if m.LastError != nil {
				t.Fatalf("sitemap error %q", *m.LastError)
			}
			if m.LastReadAt != nil && m.LastReadAt.After(after) {
				read++
				if m.Kind == "sitemap" {
					pages += m.Pages
				}
			}
		}
		if read == siteMaps+1 && pages == siteMaps*mapPages {
			return
		}
	}
	t.Fatal("the sitemaps were not read in time")
}

// largeSite serves the sitemaps and returns the URL of the site.
func largeSite(t *testing.T, etags *atomic.Bool) string {
	t.Helper()
	var maps [siteMaps][]byte
	var index []byte
	x := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body []byte
		var n int
		if r.URL.Path == "/index.xml" {
			body = index
		} else if _, err := fmt.Sscanf(r.URL.Path, "/sitemap%d.xml", &n); err == nil && n < siteMaps {
			body = maps[n]
		} else {
			http.NotFound(w, r)
			return
		}
		if tag := `"` + strings.Trim(r.URL.Path, "/") + `"`; etags.Load() {
			w.Header().Set("ETag", tag)
			if r.Header.Get("If-None-Match") == tag {
				w.WriteHeader(http.StatusNotModified)
				return
			}
		}
		w.Header().Set("Content-Type", "application/xml")
		_, _ = w.Write(body) // the client may have disconnected
	}))
	t.Cleanup(x.Close)
	index = append(index, `<?xml version="1.0" encoding="UTF-8"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`...)
	for i := range maps {
		index = fmt.Appendf(index, "<sitemap><loc>%s/sitemap%d.xml</loc></sitemap>\n", x.URL, i)
		maps[i] = append(maps[i], `<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`...)
		for j := range mapPages {
			maps[i] = fmt.Appendf(maps[i], "<url><loc>%s</loc><lastmod>%s</lastmod><changefreq>weekly</changefreq></url>\n", largePage(x.URL, i, j),
				time.Now().Add(-time.Duration(j%400)*24*time.Hour).Format("2006-01-02T15:04:05Z07:00"))
		}
		maps[i] = append(maps[i], "</urlset>"...)
	}
	index = append(index, "</sitemapindex>"...)
	return x.URL + "/"
}

func largePage(site string, i, j int) string {
	return fmt.Sprintf("%s/%s/%d/a-page-with-a-title-of-usual-length-%d", site, []string{"blog", "products", "news"}[j%3], i, j)
}

// insertPages measures plain SQL that inserts the same number of URLs with a lastmod.
func insertPages(t *testing.T) time.Duration {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(t.TempDir(), "baseline.db")+"?_pragma=journal_mode(wal)&_pragma=synchronous(normal)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err = db.ExecContext(t.Context(), "CREATE TABLE pages (seq INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, lastmod INTEGER)")
	must(err)
	start := time.Now()
	for i := range siteMaps {
		tx, err := db.BeginTx(t.Context(), nil)
		must(err)
		for j := range mapPages {
			url := largePage("http://127.0.0.1:8080", i, j)
			_, err := tx.ExecContext(t.Context(), "INSERT INTO pages (url, lastmod) VALUES (?, ?)", url, j)
			must(err)
		}
		must(tx.Commit())
	}
	return time.Since(start)
}
