//go:build e2e

package e2e

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"linkwatch/models/modelstest"
)

// changing is a site with a page that changes, a page that disappears, a broken link
// and scripts.
type changing struct {
	mu    sync.Mutex
	later bool
}

func (c *changing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	later := c.later
	c.mu.Unlock()
	filler := "<p>" + strings.Repeat("Each of our knives is forged from a single piece of steel and sharpened by hand. ", 4)
	page := map[string]string{
		"/":      "<title>Shop</title><h1>Shop</h1><p>Welcome to the shop of knives and pans. <a href=/knife>Our knife</a> <a href=/old>Old catalog</a> <a href=/dead>Broken</a>" + filler,
		"/knife": "<title>Knife</title><h1>The sharp one</h1><p>The price is 10 euros.</p>" + filler,
		"/old":   "<title>Old catalog</title><p>The catalog of last year.</p>" + filler,
	}
	if later {
		page["/knife"] = strings.Replace(page["/knife"], "10 euros", "12 euros", 1)
		delete(page, "/old")
	}
	body, ok := page[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, "<!doctype html><html lang=en><head><script>document.title = 'the script ran'</script></head><body>"+body)
}

// report has the fields of the report of an execution that the tests use.
type report struct {
	ID           string
	Reported     bool
	PagesNew     int `json:"pages_new"`
	PagesChanged int `json:"pages_changed"`
	PagesGone    int `json:"pages_gone"`
	BrokenLinks  int `json:"broken_links"`
}

// The search finds a crawled page. A second crawl finds changes, which are compared. The
// archived copy opens, and its script does not run.
func TestChangesOfCrawledPages(t *testing.T) {
	t.Parallel() // axe is slow
	c := &changing{}
	s := Start(t, "CRAWLER_POLL_INTERVAL=100ms", "CRAWLER_ARCHIVE_URL="+t.TempDir())
	start := hosts(t, 1, c)[0] + "/"
	s.Call("POST", "/v1/sources", map[string]any{"url": start, "rate_limit_ms": 0}, nil)
	var j crawlJob
	s.Call("POST", "/v1/jobs", map[string]any{"url": start, "interval_minutes": 1, "interval_type": "days"}, &j)
	s.Call("POST", "/v1/jobs/"+j.ID+"/force-run", nil, nil)
	reported := func(n int) (e report) {
		modelstest.Eventually(t, "the crawl is reported", func() bool {
			all, _ := listed[report](s, "/v1/jobs/"+j.ID+"/executions")
			if len(all) == n {
				e = all[0]
			}
			return e.Reported
		})
		return e
	}
	if e := reported(1); e.PagesNew != 3 || e.BrokenLinks != 1 {
		t.Fatalf("first crawl: got %+v", e)
	}
	c.mu.Lock()
	c.later = true
	c.mu.Unlock()
	s.Call("POST", "/v1/jobs/"+j.ID+"/force-run", nil, nil)
	e := reported(2)
	if e.PagesNew != 0 || e.PagesChanged != 1 || e.PagesGone != 1 || e.BrokenLinks != 2 {
		t.Fatalf("second crawl: got %+v", e)
	}
	b := browse(t, s, wide, "/crawl/pages")
	b.fill("#q", "sharp price")
	b.see("1 page")
	b.has("tbody mark")
	b.inEveryLook("/crawl/pages, searched", b.accessible)
	b.resize(narrow)
	b.fits(narrow, "/crawl/pages, searched")
	b.resize(wide)
	b.click("tbody a.title")
	b.see("The price is 12 euros.")
	b.inEveryLook("/crawl/pages/{id}", b.accessible)
	b.resize(narrow)
	b.fits(narrow, "/crawl/pages/{id}")
	b.resize(wide)
	b.click("td.acts a")
	b.has(".diff ins")
	b.inEveryLook("/crawl/pages/{id}/changes", b.accessible)
	b.resize(narrow)
	b.fits(narrow, "/crawl/pages/{id}/changes")
	b.resize(wide)
	b.open("/crawl/executions/" + e.ID)
	b.see("0 new, 1 changed, 1 gone")
	b.see("2 broken links")
	b.inEveryLook("/crawl/executions/{id}", b.accessible)
	b.resize(narrow)
	b.fits(narrow, "/crawl/executions/{id}")
	b.resize(wide)

	var list struct {
		Items []struct{ ID string }
	}
	s.Call("GET", "/v1/crawled-pages?q=sharp", nil, &list)
	id := list.Items[0].ID
	var one struct {
		Archived bool
		Copies   []struct{ Hash string }
	}
	modelstest.Eventually(t, "both versions are archived", func() bool {
		s.Call("GET", "/v1/crawled-pages/"+id, nil, &one)
		return len(one.Copies) == 2
	})
	b.expect("Blocked script execution")
	b.open("/crawl/pages/" + id + "/archive/" + one.Copies[0].Hash)
	b.see("The price is 12 euros.")
	if title := eval[string](b, "document.title"); title != "Knife" {
		t.Errorf("archived copy: got title %q", title)
	}
}
