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

func packed(t *testing.T, text string) string {
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

// The sitemaps of robots.txt, of indexes and of users are read in every format.
func TestRead(t *testing.T) {
	each(t, func(w *world) {
		h := newHost(w)
		h.put("/robots.txt", "User-agent: *\nSitemap: %s/index.xml\nSitemap: not a URL\n")
		h.put("/index.xml", index("/one.xml", "/two.xml.gz"))
		h.put("/one.xml", urlset("/a", "/b"))
		h.put("/two.xml.gz", packed(t, strings.ReplaceAll(urlset("/b", "/c"), "%s", h.URL)))
		h.put("/list.txt", "%s/d\n%s/e\n")
		h.put("/feed.xml", `<rss version="2.0"><channel><item><link>%s/f</link></item></channel></rss>`)
		s := w.site(h.URL)
		w.sitemap(s, h.URL+"/list.txt")
		w.sitemap(s, h.URL+"/feed.xml")
		i := w.instance()
		if got, want := i.run(sites.Reading), "1 website: 5 sitemaps read with 7 pages"; got != want {
			w.Errorf("the summary is %q, want %q", got, want)
		}
		if got := w.paths(s, sites.Filter{}); got != "/a /b /c /d /e /f" {
			w.Errorf("the pages are %s", got)
		}
		all := w.sitemaps(s)
		for path, want := range map[string]struct {
			kind   sites.Kind
			origin sites.Origin
			pages  int
		}{
			"/index.xml": {sites.KindIndex, sites.FromRobots, 2}, "/one.xml": {sites.KindSitemap, sites.FromIndex, 2}, "/two.xml.gz": {sites.KindSitemap, sites.FromIndex, 2},
			"/list.txt": {sites.KindText, sites.Given, 2}, "/feed.xml": {sites.KindFeed, sites.Given, 1},
		} {
			m := all[h.URL+path]
			if m.Kind != want.kind || m.Origin != want.origin || m.Pages != want.pages || m.LastError != "" || m.LastReadAt.IsZero() {
				w.Errorf("%s: %+v", path, m)
			}
		}
		if s = w.again(s); s.SitemapsReadAt != w.Now() || s.RobotsReadAt != w.Now() || !s.SitemapsWantedAt.IsZero() || s.SitemapsBy != "" {
			w.Errorf("the website is %+v", s)
		}
		// Nothing has changed: the pages are not written again.
		stop := modelstest.Statements(w, w.db)
		if got, want := i.run(sites.Reading), "1 website: 5 unchanged"; got != want {
			w.Errorf("the summary is %q, want %q", got, want)
		}
		for _, st := range stop() {
			if strings.Contains(st.SQL, "INTO pages") || strings.Contains(st.SQL, "sitemap_pages") {
				w.Errorf("an unchanged sitemap is stored: %s", st.SQL)
			}
		}
	})
}

// A server that knows conditional requests is asked for what has changed alone. Pages
// that no sitemap has are gone, and back when one has them.
func TestReadChanges(t *testing.T) {
	each(t, func(w *world) {
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
			w.Errorf("%d conditional requests were answered with 304", notModified)
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
		if !w.pages(s, sites.Filter{})["/a"].ForGoogle {
			w.Error("a page that is back does not wait to be submitted")
		}
		w.ok(w.DeleteSitemap(w.Context(), s.ID, other.ID()))
		i.run(sites.Reading)
		if gone, left := w.paths(s, sites.Filter{Gone: true}), len(w.sitemaps(s)); gone != "/shared" || left != 1 {
			w.Errorf("after a sitemap was deleted: gone %s, %d sitemaps", gone, left)
		}
	})
}

// What an index no longer names is deleted, with all that is below it. What another index
// names as well comes back.
func TestReadDroppedIndexes(t *testing.T) {
	each(t, func(w *world) {
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
		for _, path := range []string{"/second.xml", "/first.xml"} { // whichever /both.xml belongs to
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
				w.Errorf("%s has dropped what it named: pages %s, want %s", path, got, want)
			}
		}
		if got := w.paths(s, sites.Filter{Gone: true}); got != "/deep" {
			w.Errorf("gone are %s", got)
		}
		if all := w.sitemaps(s); all[h.URL+"/deep.xml"].URL != "" || all[h.URL+"/below.xml"].URL != "" {
			w.Error("what is below a dropped index is left")
		}
	})
}

// An index that names itself or its parent ends, and so does a chain that is too long.
func TestReadLoops(t *testing.T) {
	each(t, func(w *world) {
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
		if m := all[h.URL+"/deep3.xml"]; m.Depth != 3 || m.Skipped != 2 || !strings.Contains(m.SkippedWhy, "2 entries are more than 3 indexes deep") {
			w.Errorf("the last index is %+v", m)
		}
		if _, ok := all[h.URL+"/deep4.xml"]; ok || h.count("/self.xml") != 1 || h.count("/a.xml") != 1 {
			w.Errorf("read too much: %v", h.requests)
		}
	})
}

// A website has up to 1,000 sitemaps. Those beyond are counted, and new ones are taken
// while there is room.
func TestReadManySitemaps(t *testing.T) {
	each(t, func(w *world) {
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
			w.Errorf("beyond the limit: added %d, refused %d, %v", added, refused, err)
		}
		if _, _, err := w.AddSitemap(w.Context(), s.ID, h.URL+"/mine.xml"); models.CodeOf(err) != models.CodeConflict {
			w.Errorf("one more: %v", err)
		}
	})
}

// Whatever is wrong with a sitemap is its error, and the others are read all the same.
func TestReadBad(t *testing.T) {
	each(t, func(w *world) {
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
		w.has("the summary", w.instance().run(sites.Reading), "not readable")
		all := w.sitemaps(s)
		for url, part := range wrong {
			w.has(url, all[url].LastError, part)
			if !strings.HasSuffix(all[url].LastError, ".") {
				w.Errorf("%s: %q is no sentence", url, all[url].LastError)
			}
		}
		if m := all[h.URL+"/good.xml"]; m.LastError != "" || m.Pages != 2 || m.Skipped != 1 || m.SkippedWhy != "1 entry is outside the website" {
			w.Errorf("the good one is %+v", m)
		}
		got := w.paths(s, sites.Filter{})
		for _, path := range []string{"/good", "/too", "/bomb", "/named"} {
			if !strings.Contains(got+" ", path+" ") {
				w.Errorf("%s is missing: %s", path, got)
			}
		}
		for _, path := range []string{"given", "root", "aaaaaaaa"} {
			if strings.Contains(got, path) {
				w.Errorf("%s is among the pages: %s", path, got)
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

// A file that breaks off keeps what it has, and what is missing in it is not gone.
func TestReadBroken(t *testing.T) {
	each(t, func(w *world) {
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
			w.Errorf("the broken one is %+v", m)
		}
		h.put("/s.xml", whole)
		i.run(sites.Reading)
		if got, gone := w.paths(s, sites.Filter{}), w.paths(s, sites.Filter{Gone: true}); got != "/b /c /new" || gone != "/a" {
			w.Errorf("whole again: pages %s, gone %s", got, gone)
		}
		// A time without an answer says nothing of the pages.
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

// A sitemap that does not end, or does not answer, ends all the same.
func TestReadEndless(t *testing.T) {
	each(t, func(w *world) {
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
		w.has("the error", all[h.URL+"/silent.xml"].LastError, "It could not be fetched: timed out.")
	})
}

// Addresses that are not public are refused, visibly.
func TestReadAddressGuard(t *testing.T) {
	each(t, func(w *world) {
		h := newHost(w)
		h.put("/s.xml", urlset("/a"))
		s := w.site(h.URL)
		w.sitemap(s, h.URL+"/s.xml")
		client := outbound.New(outbound.Options{})
		defer client.Close()
		w.instance(func(o *sitejobs.Options) { o.Client = client }).run(sites.Reading)
		w.has("the error", w.sitemaps(s)[h.URL+"/s.xml"].LastError, "It could not be fetched: address not allowed.")
		if s = w.again(s); h.count("/s.xml") != 0 || !s.RobotsReadAt.IsZero() || s.RobotsError != "robots.txt could not be fetched: address not allowed." {
			w.Errorf("%d requests; %+v", h.count("/s.xml"), s)
		}
		w.instance().run(sites.Reading)
		if s = w.again(s); s.RobotsReadAt.IsZero() || s.RobotsError != "" {
			w.Errorf("when it can be read: %+v", s)
		}
	})
}

// When the program stops, what was not stored is stored by the next run, on whichever
// instance.
func TestReadStops(t *testing.T) {
	each(t, func(w *world) {
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
		if s = w.again(s); s.SitemapsBy != "" || s.SitemapsWantedAt.IsZero() {
			w.Errorf("after the stop: %+v", s)
		}
		next := w.instance()
		next.Start()
		modelstest.Eventually(w, "the rest is read", func() bool { return w.paths(s, sites.Filter{}) == "/a /b /c" && w.again(s).SitemapsWantedAt.IsZero() })
	})
}

// What users ask for is done within moments, also while another website takes long. A
// scheduled run leaves that one to the instance that is at it.
func TestReadWanted(t *testing.T) {
	each(t, func(w *world) {
		slow, h := newHost(w), newHost(w)
		release := make(chan struct{})
		asked := make(chan struct{}, 10)
		slow.handle("/slow.xml", func(rw http.ResponseWriter, r *http.Request) {
			asked <- struct{}{}
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
		<-asked
		w.clock.Advance(time.Second)
		w.sitemap(second, h.URL+"/s.xml")
		modelstest.Eventually(w, "the other website is read", func() bool { return w.paths(second, sites.Filter{}) == "/a" && w.again(second).SitemapsBy == "" })
		if got := w.instance().run(sites.Reading); got != "1 website: 1 unchanged" {
			w.Errorf("the summary is %q", got)
		}
		w.ok(w.Delete(w.Context(), first.ID))
		close(release)
		_, err := w.Restore(w.Context(), first.ID)
		w.ok(err)
		i.end()
		if first = w.again(first); first.SitemapsBy != "" {
			w.Errorf("still claimed: %+v", first)
		}
	})
}

// A website that is deleted is read no further.
func TestReadDeleted(t *testing.T) {
	each(t, func(w *world) {
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
			w.Errorf("%d requests after it was deleted", n)
		}
	})
}
