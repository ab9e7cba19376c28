package sites_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linkwatch/jobs/sites/standin"
	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/sites"
)

// An incomplete index removes no sitemaps: missing ones may be in the rest.
func TestReadBrokenIndex(t *testing.T) {
	each(t, func(w *fixture) {
		h := newHost(w)
		whole := index("/one.xml", "/two.xml")
		h.put("/index.xml", whole)
		h.put("/one.xml", urlset("/a"))
		h.put("/two.xml", urlset("/b"))
		s := w.site(h.URL)
		w.sitemap(s, h.URL+"/index.xml")
		i := w.instance()
		i.run(sites.Reading)
		h.put("/index.xml", whole[:strings.Index(whole, "/two.xml")])
		i.run(sites.Reading)
		all := w.sitemaps(s)
		if got := w.paths(s, sites.Filter{}); got != "/a /b" || all[h.URL+"/index.xml"].LastError == "" || len(all) != 3 {
			w.Errorf("pages %s, sitemaps %v", got, all)
		}
	})
}

// A sitemap that robots.txt no longer lists can be deleted.
func TestReadSitemapLeavesRobots(t *testing.T) {
	each(t, func(w *fixture) {
		h := newHost(w)
		h.put("/robots.txt", "Sitemap: %s/s.xml\n")
		h.put("/s.xml", urlset("/a"))
		s := w.site(h.URL)
		i := w.instance()
		i.run(sites.Reading)
		m := w.sitemaps(s)[h.URL+"/s.xml"]
		if err := w.DeleteSitemap(w.Context(), s.ID, m.ID()); err == nil {
			w.Error("a sitemap that robots.txt names was deleted")
		}
		h.put("/robots.txt", "User-agent: *\n")
		i.run(sites.Reading)
		w.must(w.DeleteSitemap(w.Context(), s.ID, m.ID()))
	})
}

// A sitemap added by a user stays when an index no longer lists it, with all sitemaps below it.
func TestReadUserSitemapInIndex(t *testing.T) {
	each(t, func(w *fixture) {
		h := newHost(w)
		h.put("/index.xml", index("/one.xml", "/two.xml"))
		h.put("/one.xml", urlset("/a"))
		h.put("/two.xml", index("/three.xml"))
		h.put("/three.xml", urlset("/b"))
		s := w.site(h.URL)
		root := w.sitemap(s, h.URL+"/index.xml")
		i := w.instance()
		i.run(sites.Reading)
		added := w.sitemap(s, h.URL+"/two.xml")
		if added.Origin != sites.FromUser || added.Depth != 0 || added.ParentSeq != nil || added.RootSeq != nil {
			w.Errorf("got sitemap %+v", added)
		}
		if m := w.sitemaps(s)[h.URL+"/three.xml"]; m.Depth != 1 || m.RootSeq == nil || *m.RootSeq != added.Seq {
			w.Errorf("got child %+v", m)
		}
		h.put("/index.xml", index("/one.xml"))
		i.run(sites.Reading)
		if got := w.paths(s, sites.Filter{}); got != "/a /b" {
			w.Errorf("pages %s, gone %s", got, w.paths(s, sites.Filter{Gone: true}))
		}
		w.must(w.DeleteSitemap(w.Context(), s.ID, root.ID()))
		i.run(sites.Reading)
		if got := w.paths(s, sites.Filter{}); got != "/b" {
			w.Errorf("without the index: pages %s, gone %s", got, w.paths(s, sites.Filter{Gone: true}))
		}
	})
}

// A header that cannot be stored is ignored. Everything else is read.
func TestReadInvalidValidators(t *testing.T) {
	each(t, func(w *fixture) {
		h := newHost(w)
		for name, tag := range map[string]string{"bytes": "\"\xff\xfe\"", "long": `"` + strings.Repeat("x", 2000) + `"`} {
			h.handle("/"+name, func(rw http.ResponseWriter, r *http.Request) {
				rw.Header().Set("ETag", tag)
				rw.Header().Set("Last-Modified", "\xff")
				fmt.Fprint(rw, strings.ReplaceAll(index("/below.xml"), "%s", h.URL))
			})
		}
		h.put("/below.xml", urlset("/a"))
		s := w.site(h.URL)
		w.sitemap(s, h.URL+"/bytes")
		w.sitemap(s, h.URL+"/long")
		i := w.instance()
		i.run(sites.Reading)
		if got := w.paths(s, sites.Filter{}); got != "/a" {
			w.Errorf("pages %s", got)
		}
		if got := i.run(sites.Reading); got != "1 website: 3 unchanged" {
			w.Errorf("got summary %q", got)
		}
	})
}

// A sitemap with a permanent error is submitted to Google once, and again when it changes.
func TestReadBrokenIsSubmittedOnce(t *testing.T) {
	each(t, func(w *fixture) {
		h := newHost(w)
		s := w.google(w.site(h.URL))
		w.engine.Permit(s.SiteURL, "siteOwner")
		w.sitemap(s, h.URL+"/s.xml")
		i := w.instance()
		for n, part := range []string{"</urlset>", "</url></urlset>"} {
			h.put("/s.xml", strings.TrimSuffix(urlset("/a", "/b"), part))
			for range 2 {
				i.run(sites.Reading)
				w.clock.Advance(time.Hour)
				i.run(sites.Submitting)
				w.clock.Advance(time.Hour)
			}
			if got := w.engine.Count(standin.Sitemaps); got != n+1 || w.sitemaps(s)[h.URL+"/s.xml"].LastError == "" {
				w.Errorf("without %s: %d submissions", part, got)
			}
		}
	})
}

// An index can become a sitemap and vice versa. The old content is gone.
func TestReadChangesKind(t *testing.T) {
	each(t, func(w *fixture) {
		h := newHost(w)
		h.put("/below.xml", urlset("/below"))
		s := w.site(h.URL)
		w.sitemap(s, h.URL+"/s.xml")
		i := w.instance()
		for range 2 {
			h.put("/s.xml", index("/below.xml"))
			i.run(sites.Reading)
			if got := w.paths(s, sites.Filter{}); got != "/below" {
				w.Errorf("as an index: pages %s", got)
			}
			h.put("/s.xml", urlset("/own"))
			i.run(sites.Reading)
			if got := w.paths(s, sites.Filter{}); got != "/own" || len(w.sitemaps(s)) != 1 {
				w.Errorf("as a sitemap: pages %s, sitemaps %v", got, w.sitemaps(s))
			}
		}
	})
}

// A sitemap is downloaded to an unlinked temporary file. If that fails, the sitemap has an error and its pages stay.
func TestReadTemporaryFiles(t *testing.T) {
	each(t, func(w *fixture) {
		h := newHost(w)
		dir := w.TempDir()
		h.handle("/s.xml", func(rw http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(rw, strings.ReplaceAll(urlset("/a", "/b"), "%s", h.URL))
			_ = http.NewResponseController(rw).Flush()
			// A file would be left after a crash. It is unlinked as soon as it is open.
			if !modelstest.Within(time.Minute, func() bool { files, err := os.ReadDir(dir); return err == nil && len(files) == 0 }) {
				w.Errorf("the folder has files during the read")
			}
		})
		s := w.site(h.URL)
		w.sitemap(s, h.URL+"/s.xml")
		i := w.instance()
		i.SetTempDir(dir)
		i.run(sites.Reading)
		if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
			w.Errorf("files after the read: %v, %v", files, err)
		}
		h.put("/s.xml", urlset("/c"))
		i.SetTempDir(filepath.Join(dir, "none"))
		i.run(sites.Reading)
		if got, m := w.paths(s, sites.Filter{}), w.sitemaps(s)[h.URL+"/s.xml"]; got != "/a /b" || m.LastError != "The sitemap could not be written to a temporary file. See the log of this server." {
			w.Errorf("pages %s, %+v", got, m)
		}
		w.has("the log", w.logged.String(), "temporary file not written")
		i.SetTempDir(dir)
		i.run(sites.Reading)
		if got := w.paths(s, sites.Filter{}); got != "/c" {
			w.Errorf("pages %s", got)
		}
	})
}

// Of a very large index, the first sitemaps are stored.
func TestReadLargeIndex(t *testing.T) {
	each(t, func(w *fixture) {
		h := newHost(w)
		var paths []string
		for n := range 6000 {
			paths = append(paths, fmt.Sprintf("/%d/%s", n, strings.Repeat("a", 1500)))
		}
		h.put("/index.xml", index(paths...))
		s := w.site(h.URL)
		w.sitemap(s, h.URL+"/index.xml")
		w.instance().run(sites.Reading)
		m := w.sitemaps(s)[h.URL+"/index.xml"]
		if m.Pages != 999 || m.Skipped != 5001 || m.SkippedReasons != "5,001 entries are over the limit of 1,000 sitemaps per website" || m.LastError != "" {
			w.Errorf("got index %+v", m)
		}
	})
}

// An interrupted reading is repeated in full, even if the sitemap has not changed.
func TestReadInterrupted(t *testing.T) {
	each(t, func(w *fixture) {
		h := newHost(w)
		h.put("/s.xml", urlset("/a"))
		s := w.site(h.URL)
		w.sitemap(s, h.URL+"/s.xml")
		i := w.instance()
		i.run(sites.Reading)
		m := w.sitemaps(s)[h.URL+"/s.xml"]
		w.must(w.BeginReading(w.Context(), m)) // an instance stops after it stored some entries
		u, err := models.ParseURL("url", h.URL+"/b")
		w.must(err)
		_, err = w.StoreEntries(w.Context(), s, m, []sites.Entry{{URL: u}})
		w.must(err)
		i.run(sites.Reading)
		if got, gone := w.paths(s, sites.Filter{}), w.paths(s, sites.Filter{Gone: true}); got != "/a" || gone != "/b" {
			w.Errorf("pages %s, gone %s", got, gone)
		}
	})
}

// Of a file with too many URLs, the first 50,000 are stored, and no page is marked as gone.
func TestReadTooMany(t *testing.T) {
	each(t, func(w *fixture) {
		h := newHost(w)
		var list strings.Builder
		for n := range sites.MaxSitemapURLs + 1 {
			fmt.Fprintf(&list, "%s/%d\n", h.URL, n)
		}
		h.put("/list.txt", list.String())
		s := w.site(h.URL)
		w.sitemap(s, h.URL+"/list.txt")
		w.instance().run(sites.Reading)
		c, err := w.Counts(w.Context(), s)
		w.must(err)
		m := w.sitemaps(s)[h.URL+"/list.txt"]
		if c.Total != sites.MaxSitemapURLs || m.Pages != c.Total || m.LastError != "The sitemap has more than 50,000 URLs. The rest was not read." {
			w.Errorf("%d pages, %+v", c.Total, m)
		}
	})
}
