package sites_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	sitejobs "linkwatch/jobs/sites"
	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/sites"
	"linkwatch/outbound"
)

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Sitemaps of robots.txt, indexes and users are read in all formats.
func TestRead(t *testing.T) {
	each(t, func(w *fixture) {
		h := newHost(w)
		h.put("/robots.txt", "User-agent: *\nSitemap: %s/index.xml\nSitemap: not a URL\n")
		h.put("/index.xml", index("/one.xml", "/two.xml.gz"))
		h.put("/one.xml", urlset("/a", "/b"))
		h.put("/two.xml.gz", gzipped(t, strings.ReplaceAll(urlset("/b", "/c"), "%s", h.URL)))
		h.put("/list.txt", "%s/d\n%s/e\n")
		h.put("/feed.xml", `<rss version="2.0"><channel><item><link>%s/f</link></item></channel></rss>`)
		s := w.site(h.URL)
		w.sitemap(s, h.URL+"/list.txt")
		w.sitemap(s, h.URL+"/feed.xml")
		i := w.instance()
		if got, want := i.run(sites.Reading), "1 website: 5 sitemaps read with 7 pages"; got != want {
			w.Errorf("got summary %q, want %q", got, want)
		}
		if got := w.paths(s, sites.Filter{}); got != "/a /b /c /d /e /f" {
			w.Errorf("got pages %s", got)
		}
		all := w.sitemaps(s)
		for path, want := range map[string]struct {
			kind   sites.Kind
			origin sites.Origin
			pages  int
		}{
			"/index.xml": {sites.KindIndex, sites.FromRobots, 2}, "/one.xml": {sites.KindSitemap, sites.FromIndex, 2}, "/two.xml.gz": {sites.KindSitemap, sites.FromIndex, 2},
			"/list.txt": {sites.KindText, sites.FromUser, 2}, "/feed.xml": {sites.KindFeed, sites.FromUser, 1},
		} {
			m := all[h.URL+path]
			if m.Kind != want.kind || m.Origin != want.origin || m.Pages != want.pages || m.LastError != "" || m.LastReadAt.IsZero() {
				w.Errorf("%s: %+v", path, m)
			}
		}
		if s = w.again(s); s.SitemapsReadAt != w.Now() || s.RobotsReadAt != w.Now() || !s.SitemapsRequestedAt.IsZero() || s.SitemapsClaimedBy != "" {
			w.Errorf("got website %+v", s)
		}
		// Unchanged pages are not written again.
		stop := modelstest.Statements(w, w.db)
		if got, want := i.run(sites.Reading), "1 website: 5 unchanged"; got != want {
			w.Errorf("got summary %q, want %q", got, want)
		}
		for _, st := range stop() {
			if strings.Contains(st.SQL, "INTO pages") || strings.Contains(st.SQL, "sitemap_pages") {
				w.Errorf("write for an unchanged sitemap: %s", st.SQL)
			}
		}
	})
}

// Conditional requests are used if the server supports them. Pages in no sitemap are gone, and return with a sitemap.
func TestReadChanges(t *testing.T) {
	each(t, func(w *fixture) {
		h := newHost(w)
		version, body := "1", urlset("/a", "/b", "/shared")
		notModified := 0
		h.handle("/s.xml", func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("ETag", `"`+version+`"`)
			if r.Header.Get("If-None-Match") == `"`+version+`"` {
				notModified++
				rw.WriteHeader(http.StatusNotModified)
				return
			}
			fmt.Fprint(rw, strings.ReplaceAll(body, "%s", h.URL))
		})
		h.put("/other.xml", urlset("/shared"))
		s := w.site(h.URL)
		w.sitemap(s, h.URL+"/s.xml")
		other := w.sitemap(s, h.URL+"/other.xml")
		i := w.instance()
		i.run(sites.Reading)
		i.run(sites.Reading)
		if notModified != 1 {
			w.Errorf("%d conditional requests got a 304", notModified)
		}
		version, body = "2", urlset("/b", "/new")
		i.run(sites.Reading)
		if got, gone := w.paths(s, sites.Filter{}), w.paths(s, sites.Filter{Gone: true}); got != "/b /new /shared" || gone != "/a" {
			w.Errorf("pages %s, gone %s", got, gone)
		}
		version, body = "3", urlset("/a", "/b", "/new")
		i.run(sites.Reading)
		if got, gone := w.paths(s, sites.Filter{}), w.paths(s, sites.Filter{Gone: true}); got != "/a /b /new /shared" || gone != "" {
			w.Errorf("pages %s, gone %s", got, gone)
		}
		if !w.pages(s, sites.Filter{})["/a"].QueuedForGoogle {
			w.Error("a page that is back does not wait to be submitted")
		}
		w.must(w.DeleteSitemap(w.Context(), s.ID, other.ID()))
		i.run(sites.Reading)
		if gone, left := w.paths(s, sites.Filter{Gone: true}), len(w.sitemaps(s)); gone != "/shared" || left != 1 {
			w.Errorf("after deleting a sitemap: gone %s, %d sitemaps", gone, left)
		}
	})
}

// Sitemaps that an index no longer lists are deleted, with those below them. Sitemaps that another index lists are added again.
func TestReadDroppedIndexes(t *testing.T) {
	each(t, func(w *fixture) {
		h := newHost(w)
		h.put("/first.xml", index("/below.xml", "/both.xml"))
		h.put("/second.xml", index("/both.xml"))
		h.put("/below.xml", index("/deep.xml"))
		h.put("/deep.xml", urlset("/deep"))
		h.put("/both.xml", urlset("/both"))
		s := w.site(h.URL)
		w.sitemap(s, h.URL+"/second.xml")
		w.sitemap(s, h.URL+"/first.xml")
		i := w.instance()
		i.run(sites.Reading)
		if got := w.paths(s, sites.Filter{}); got != "/both /deep" {
			w.Errorf("pages %s", got)
		}
		for _, path := range []string{"/second.xml", "/first.xml"} { // either may be the parent of /both.xml
			h.put(path, index("/none.xml"))
			i.run(sites.Reading)
			i.run(sites.Reading)
			want := "/both"
			if path == "/second.xml" {
				want = "/both /deep"
				h.put(path, index("/both.xml"))
				i.run(sites.Reading)
				i.run(sites.Reading)
			}
			if got := w.paths(s, sites.Filter{}); got != want {
				w.Errorf("%s became empty: pages %s, want %s", path, got, want)
			}
		}
		if got := w.paths(s, sites.Filter{Gone: true}); got != "/deep" {
			w.Errorf("gone: %s", got)
		}
		if all := w.sitemaps(s); all[h.URL+"/deep.xml"].URL != "" || all[h.URL+"/below.xml"].URL != "" {
			w.Error("what is below a dropped index is left")
		}
	})
}

// Reading ends for an index that lists itself or its parent, and for too many nested indexes.
func TestReadLoops(t *testing.T) {
	each(t, func(w *fixture) {
		h := newHost(w)
		h.put("/self.xml", index("/self.xml", "/s.xml"))
		h.put("/a.xml", index("/b.xml"))
		h.put("/b.xml", index("/a.xml", "/s.xml"))
		for n := range 4 {
			h.put(fmt.Sprintf("/deep%d.xml", n), index(fmt.Sprintf("/deep%d.xml", n+1), fmt.Sprintf("/s%d.xml", n+1)))
			h.put(fmt.Sprintf("/s%d.xml", n+1), urlset(fmt.Sprintf("/%d", n+1)))
		}
		h.put("/s.xml", urlset("/page"))
		s := w.site(h.URL)
		for _, path := range []string{"/self.xml", "/a.xml", "/deep0.xml"} {
			w.sitemap(s, h.URL+path)
		}
		w.instance().run(sites.Reading)
		if got := w.paths(s, sites.Filter{}); got != "/1 /2 /3 /page" {
			w.Errorf("pages %s", got)
		}
		all := w.sitemaps(s)
		if m := all[h.URL+"/deep3.xml"]; m.Depth != 3 || m.Skipped != 2 || !strings.Contains(m.SkippedReasons, "2 entries are nested more than 3 indexes deep") {
			w.Errorf("last index: %+v", m)
		}
		if _, ok := all[h.URL+"/deep4.xml"]; ok || h.count("/self.xml") != 1 || h.count("/a.xml") != 1 {
			w.Errorf("too many requests: %v", h.requests)
		}
	})
}

// A website has up to 1,000 sitemaps. Sitemaps over the limit are counted, and added when there is room.
func TestReadManySitemaps(t *testing.T) {
	each(t, func(w *fixture) {
		h := newHost(w)
		paths := func(n int) (all []string) {
			for i := range n {
				all = append(all, fmt.Sprintf("/%d.xml", i))
			}
			return all
		}
		h.put("/index.xml", index(paths(600)...))
		s := w.site(h.URL)
		m := w.sitemap(s, h.URL+"/index.xml")
		var urls []string
		for _, p := range paths(600) {
			urls = append(urls, h.URL+p)
		}
		for _, c := range []struct{ n, added, refused int }{{600, 600, 0}, {601, 1, 0}, {601, 0, 0}} {
			for len(urls) < c.n {
				urls = append(urls, fmt.Sprintf("%s/%d.xml", h.URL, len(urls)))
			}
			if added, refused, err := w.AddFound(w.Context(), s, &m, urls); err != nil || added != c.added || refused != c.refused {
				w.Errorf("%d sitemaps: added %d, refused %d, %v", c.n, added, refused, err)
			}
		}
		for len(urls) < 1001 {
			urls = append(urls, fmt.Sprintf("%s/%d.xml", h.URL, len(urls)))
		}
		if added, refused, err := w.AddFound(w.Context(), s, &m, urls); err != nil || added != 398 || refused != 2 {
			w.Errorf("over the limit: added %d, refused %d, %v", added, refused, err)
		}
		if _, _, err := w.AddSitemap(w.Context(), s.ID, h.URL+"/mine.xml"); models.CodeOf(err) != models.CodeConflict {
			w.Errorf("one more: %v", err)
		}
	})
}

// Problems are stored as the error of a sitemap. Other sitemaps are read.
func TestReadBad(t *testing.T) {
	each(t, func(w *fixture) {
		h, foreign := newHost(w), newHost(w)
		forever := make(chan struct{})
		defer close(forever)
		h.put("/html.xml", "<!doctype html><html><body>Log in</body></html>")
		h.put("/empty.xml", "")
		h.put("/json.xml", "{}")
		h.put("/binary.xml", "\x00\x01\x02")
		h.put("/entities.xml", `<!DOCTYPE u [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;">]><urlset><url><loc>%s/&b;</loc></url></urlset>`)
		h.put("/external.xml", `<!DOCTYPE u [<!ENTITY x SYSTEM "file:///etc/passwd">]><urlset><url><loc>%s/&x;</loc></url></urlset>`)
		h.handle("/500.xml", func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(500) })
		h.handle("/cut.xml", func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Length", "100000")
			fmt.Fprint(rw, strings.ReplaceAll(urlset("/cut"), "%s", h.URL)[:len(h.URL)+100])
		})
		h.handle("/loop.xml", func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, "/loop.xml", http.StatusFound) })
		var bomb bytes.Buffer
		z := gzip.NewWriter(&bomb)
		fmt.Fprintf(z, "%s/bomb\n", h.URL)
		_, _ = io.CopyN(z, newlines{}, 60<<20)
		_ = z.Close()
		h.put("/bomb.xml.gz", bomb.String())
		h.put("/good.xml", urlset("/good", "https://elsewhere.example/", "/too"))
		foreign.put("/named.xml", strings.ReplaceAll(urlset("/named"), "%s", h.URL))
		foreign.put("/given.xml", urlset("/given"))
		h.put("/robots.txt", "Sitemap: "+strings.Replace(foreign.URL, "127.0.0.1", "localhost", 1)+"/named.xml\n")
		s := w.site(h.URL)
		given := strings.Replace(foreign.URL, "127.0.0.1", "localhost", 1) + "/given.xml"
		wrong := map[string]string{
			h.URL + "/html.xml": "HTML", h.URL + "/empty.xml": "empty", h.URL + "/json.xml": "JSON", h.URL + "/binary.xml": "binary", h.URL + "/none.xml": "status 404",
			h.URL + "/500.xml": "status 500", h.URL + "/loop.xml": "could not be fetched", h.URL + "/bomb.xml.gz": "50 MB", h.URL + "/cut.xml": "could not be fetched",
			given: "another host",
		}
		for url := range wrong {
			w.sitemap(s, url)
		}
		for _, path := range []string{"/good.xml", "/entities.xml", "/external.xml"} {
			w.sitemap(s, h.URL+path)
		}
		w.has("the summary", w.instance().run(sites.Reading), "unreadable")
		all := w.sitemaps(s)
		for url, part := range wrong {
			w.has(url, all[url].LastError, part)
			if !strings.HasSuffix(all[url].LastError, ".") {
				w.Errorf("%s: %q is not a sentence", url, all[url].LastError)
			}
		}
		if m := all[h.URL+"/good.xml"]; m.LastError != "" || m.Pages != 2 || m.Skipped != 1 || m.SkippedReasons != "1 entry is outside the website" {
			w.Errorf("valid sitemap: %+v", m)
		}
		got := w.paths(s, sites.Filter{})
		for _, path := range []string{"/good", "/too", "/bomb", "/named"} {
			if !strings.Contains(got+" ", path+" ") {
				w.Errorf("%s is missing: %s", path, got)
			}
		}
		for _, path := range []string{"given", "root", "aaaaaaaa"} {
			if strings.Contains(got, path) {
				w.Errorf("unexpected page %s: %s", path, got)
			}
		}
		if foreign.count("/given.xml") != 0 {
			w.Error("a sitemap on another host was requested")
		}
	})
}

type newlines struct{}

func (newlines) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '\n'
	}
	return len(p), nil
}

// The entries of an incomplete file are stored, and missing pages are not gone.
func TestReadBroken(t *testing.T) {
	each(t, func(w *fixture) {
		h := newHost(w)
		h.put("/s.xml", urlset("/a", "/b", "/c"))
		s := w.site(h.URL)
		w.sitemap(s, h.URL+"/s.xml")
		i := w.instance()
		i.run(sites.Reading)
		whole := urlset("/new", "/b", "/c")
		h.put("/s.xml", whole[:strings.Index(whole, "/b")])
		i.run(sites.Reading)
		if got, gone := w.paths(s, sites.Filter{}), w.paths(s, sites.Filter{Gone: true}); got != "/a /b /c /new" || gone != "" {
			w.Errorf("pages %s, gone %s", got, gone)
		}
		m := w.sitemaps(s)[h.URL+"/s.xml"]
		if m.LastError == "" || m.Complete {
			w.Errorf("incomplete sitemap: %+v", m)
		}
		h.put("/s.xml", whole)
		i.run(sites.Reading)
		if got, gone := w.paths(s, sites.Filter{}), w.paths(s, sites.Filter{Gone: true}); got != "/b /c /new" || gone != "/a" {
			w.Errorf("complete again: pages %s, gone %s", got, gone)
		}
		// A failed request changes no pages.
		h.handle("/s.xml", func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusBadGateway) })
		i.run(sites.Reading)
		if got, last := w.paths(s, sites.Filter{}), w.sitemaps(s)[h.URL+"/s.xml"]; got != "/b /c /new" || last.Pages != 3 || last.LastError == "" {
			w.Errorf("pages %s, %+v", got, last)
		}
		h.put("/s.xml", whole)
		i.run(sites.Reading)
		if last := w.sitemaps(s)[h.URL+"/s.xml"]; last.LastError != "" {
			w.Errorf("after it was read: %s", last.LastError)
		}
	})
}

// Reading ends for an endless sitemap and for a server without a response.
func TestReadEndless(t *testing.T) {
	each(t, func(w *fixture) {
		h := newHost(w)
		h.handle("/endless.txt", func(rw http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(rw, "%s/a\n", h.URL)
			_, _ = io.Copy(rw, newlines{})
		})
		h.handle("/silent.xml", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		s := w.site(h.URL)
		w.sitemap(s, h.URL+"/endless.txt")
		i := w.instance()
		i.run(sites.Reading)
		w.sitemap(s, h.URL+"/silent.xml")
		i.SetReadTime(100 * time.Millisecond)
		i.run(sites.Reading)
		all := w.sitemaps(s)
		if got := w.paths(s, sites.Filter{}); got != "/a" || all[h.URL+"/endless.txt"].LastError == "" {
			w.Errorf("pages %s, %+v", got, all[h.URL+"/endless.txt"])
		}
		w.has("the error", all[h.URL+"/silent.xml"].LastError, "The sitemap could not be fetched: timed out.")
	})
}

// Private addresses are refused with an error.
func TestReadAddressGuard(t *testing.T) {
	each(t, func(w *fixture) {
		h := newHost(w)
		h.put("/s.xml", urlset("/a"))
		s := w.site(h.URL)
		w.sitemap(s, h.URL+"/s.xml")
		client := outbound.New(outbound.Options{})
		defer client.Close()
		w.instance(func(o *sitejobs.Options) { o.Client = client }).run(sites.Reading)
		w.has("the error", w.sitemaps(s)[h.URL+"/s.xml"].LastError, "The sitemap could not be fetched: address not allowed.")
		if s = w.again(s); h.count("/s.xml") != 0 || !s.RobotsReadAt.IsZero() || s.RobotsError != "robots.txt could not be fetched: address not allowed." {
			w.Errorf("%d requests; %+v", h.count("/s.xml"), s)
		}
		w.instance().run(sites.Reading)
		if s = w.again(s); s.RobotsReadAt.IsZero() || s.RobotsError != "" {
			w.Errorf("after a successful read: %+v", s)
		}
	})
}

// After a stop, the next run stores the rest, on any instance.
func TestReadStops(t *testing.T) {
	each(t, func(w *fixture) {
		h := newHost(w)
		taking, stop := context.WithCancel(w.Context())
		defer stop()
		whole := strings.ReplaceAll(urlset("/a", "/b"), "%s", h.URL)
		h.handle("/1.xml", func(rw http.ResponseWriter, _ *http.Request) {
			stop()
			fmt.Fprint(rw, whole)
		})
		h.put("/2.xml", urlset("/c"))
		s := w.site(h.URL)
		w.sitemap(s, h.URL+"/1.xml")
		w.sitemap(s, h.URL+"/2.xml")
		if _, err := w.instance().try(taking, w.Context(), sites.Reading); err != nil {
			w.Fatal(err)
		}
		if s = w.again(s); s.SitemapsClaimedBy != "" || s.SitemapsRequestedAt.IsZero() {
			w.Errorf("after the stop: %+v", s)
		}
		next := w.instance()
		next.Start()
		modelstest.Eventually(w, "the rest is read", func() bool {
			return w.paths(s, sites.Filter{}) == "/a /b /c" && w.again(s).SitemapsRequestedAt.IsZero()
		})
	})
}

// Requested reads are done within seconds, even while another website takes long. A scheduled run skips a claimed website.
func TestReadRequested(t *testing.T) {
	each(t, func(w *fixture) {
		slow, h := newHost(w), newHost(w)
		release := make(chan struct{})
		requested := make(chan struct{}, 10)
		slow.handle("/slow.xml", func(rw http.ResponseWriter, r *http.Request) {
			requested <- struct{}{}
			select {
			case <-release:
			case <-r.Context().Done():
			}
			fmt.Fprint(rw, strings.ReplaceAll(index("/below.xml"), "%s", slow.URL))
		})
		h.put("/s.xml", urlset("/a"))
		first, second := w.site(slow.URL), w.site(h.URL)
		w.sitemap(first, slow.URL+"/slow.xml")
		i := w.instance()
		i.Start()
		<-requested
		w.clock.Advance(time.Second)
		w.sitemap(second, h.URL+"/s.xml")
		modelstest.Eventually(w, "the other website is read", func() bool {
			s := w.again(second) // a new website is also read: that reading may find /s.xml and leave the later request open
			return w.paths(second, sites.Filter{}) == "/a" && s.SitemapsClaimedBy == "" && s.SitemapsRequestedAt.IsZero()
		})
		if got := w.instance().run(sites.Reading); got != "1 website: 1 unchanged" {
			w.Errorf("got summary %q", got)
		}
		w.must(w.Delete(w.Context(), first.ID))
		close(release)
		_, err := w.Restore(w.Context(), first.ID)
		w.must(err)
		i.end()
		if first = w.again(first); first.SitemapsClaimedBy != "" {
			w.Errorf("still claimed: %+v", first)
		}
	})
}

// Reading stops when the website is deleted.
func TestReadDeleted(t *testing.T) {
	each(t, func(w *fixture) {
		h := newHost(w)
		s := w.site(h.URL)
		h.handle("/index.xml", func(rw http.ResponseWriter, _ *http.Request) {
			if err := w.Delete(w.Context(), s.ID); err != nil {
				w.Error(err)
			}
			fmt.Fprint(rw, strings.ReplaceAll(index("/below.xml"), "%s", h.URL))
		})
		w.sitemap(s, h.URL+"/index.xml")
		w.instance().run(sites.Reading)
		if n := h.count("/below.xml"); n != 0 {
			w.Errorf("%d requests after the deletion", n)
		}
	})
}
