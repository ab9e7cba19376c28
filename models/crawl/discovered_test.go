package crawl_test

import (
	"slices"
	"testing"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/crawl"
)

// discover stores links of the start page of a crawl, and returns their ids.
func (w *world) discover(urls ...string) (ids []string) {
	w.Helper()
	w.job("http://a.example/", 0)
	w.begin()
	tn := w.turn()
	r := fetched(tn, w.Now())
	for _, u := range urls {
		r.Discovered = append(r.Discovered, crawl.DiscoveredLink{SourceSeq: r.Entry.Crawl.Source, URL: u, Text: "About " + u, FoundOn: r.Entry.URL})
	}
	tn.Add(r)
	w.ok(w.Record(w.Context(), tn))
	list, err := w.DiscoveredLinks(w.Context(), crawl.DiscoveredFilter{}, models.Cursor{}, 100)
	w.ok(err)
	for _, d := range list.Items {
		ids = append(ids, d.ID())
	}
	return ids
}

func (w *world) discovered(f crawl.DiscoveredFilter) (urls []string) {
	w.Helper()
	list, err := w.DiscoveredLinks(w.Context(), f, models.Cursor{}, 100)
	w.ok(err)
	for _, d := range list.Items {
		urls = append(urls, d.URL)
	}
	return urls
}

func TestFiltersOfDiscoveredLinks(t *testing.T) {
	each(t, func(w *world) {
		w.discover("https://one.example/a", "http://one.example:8080/b", "https://one.example.org/", "https://xn--bcher-kva.example/100%25_")
		for _, c := range []struct {
			filter crawl.DiscoveredFilter
			want   int
		}{
			{crawl.DiscoveredFilter{}, 4},
			{crawl.DiscoveredFilter{Host: "One.example"}, 2},
			{crawl.DiscoveredFilter{Host: "one.example:8080"}, 1},
			{crawl.DiscoveredFilter{Host: "one.exampl_"}, 0},
			{crawl.DiscoveredFilter{Host: "one.example/a"}, 0},
			{crawl.DiscoveredFilter{Host: "bücher.example"}, 1},
			{crawl.DiscoveredFilter{Text: "ONE.example/A"}, 1},
			{crawl.DiscoveredFilter{Text: "about"}, 4},
			{crawl.DiscoveredFilter{Text: "0%25_"}, 1},
			{crawl.DiscoveredFilter{Text: "1%5"}, 0},
			{crawl.DiscoveredFilter{Text: "b", Host: "one.example"}, 2},
			{crawl.DiscoveredFilter{SourceID: "s_none"}, 0},
		} {
			if got := w.discovered(c.filter); len(got) != c.want {
				w.Errorf("%+v finds %q, want %d", c.filter, got, c.want)
			}
		}
		long := string(make([]byte, models.MaxFilter+1))
		for _, f := range []crawl.DiscoveredFilter{{Host: long}, {Text: long}, {SourceID: long}} {
			if _, err := w.DiscoveredLinks(w.Context(), f, models.Cursor{}, 1); models.CodeOf(err) != models.CodeInvalid {
				w.Errorf("a filter of %d bytes: %v", len(long), err)
			}
		}
	})
}

// TestDeletedLinksAreRestored checks that links deleted together are restored together, until the reaper deletes them.
func TestDeletedLinksAreRestored(t *testing.T) {
	each(t, func(w *world) {
		ids := w.discover("http://x.example/1", "http://x.example/2", "http://x.example/3")
		byID, err := w.DiscoveredLinksByID(w.Context(), append(slices.Clone(ids), "d_none")...)
		w.ok(err)
		if len(byID) != 3 || byID[2].ID() != ids[2] || byID[0].SourceID == "" {
			w.Errorf("by id: %+v", byID)
		}
		first, err := w.DeleteDiscoveredLinks(w.Context(), ids[0], ids[1], "d_none", models.TimedID(models.KindDiscovered, w.Now(), 99))
		w.ok(err)
		w.clock.Advance(1)
		again, err := w.DeleteDiscoveredLinks(w.Context(), ids[0])
		w.ok(err)
		if first.N != 2 || again.N != 0 {
			w.Errorf("deleted %d, then %d", first.N, again.N)
		}
		if got := w.discovered(crawl.DiscoveredFilter{}); !slices.Equal(got, []string{"http://x.example/3"}) {
			w.Errorf("left: %q", got)
		}
		if byID, err := w.DiscoveredLinksByID(w.Context(), ids...); err != nil || len(byID) != 1 {
			w.Errorf("by id after the deletion: %+v %v", byID, err)
		}
		if d, err := w.DeletionAt(w.Context(), first.At); err != nil || d.N != 2 {
			w.Errorf("%+v %v", d, err)
		}
		n, err := w.RestoreDiscoveredLinks(w.Context(), first.At)
		w.ok(err)
		if got := w.discovered(crawl.DiscoveredFilter{}); n != 2 || len(got) != 3 {
			w.Errorf("restored %d: %q", n, got)
		}
		if n, err := w.RestoreDiscoveredLinks(w.Context(), first.At); err != nil || n != 0 {
			w.Errorf("restored twice: %d %v", n, err)
		}
		w.clock.Advance(1)
		last, err := w.DeleteDiscoveredLinks(w.Context(), ids[2])
		w.ok(err)
		reap := func() (n int64) {
			w.ok(w.db.Write(w.Context(), func(tx *gorm.DB) (err error) { n, err = w.ReapDiscoveredLinks(tx, 10); return err }))
			return n
		}
		if n := reap(); n != 0 {
			w.Errorf("%d reaped at once", n)
		}
		w.clock.Advance(crawl.KeepDeleted + 1e6)
		if n := reap(); n != 1 {
			w.Errorf("%d reaped, want 1", n)
		}
		if n, err := w.RestoreDiscoveredLinks(w.Context(), last.At); err != nil || n != 0 {
			w.Errorf("restored after the reaper: %d %v", n, err)
		}
		if _, err := w.DeleteDiscoveredLinks(w.Context(), make([]string, crawl.MaxBulk+1)...); models.CodeOf(err) != models.CodeInvalid {
			w.Errorf("too many: %v", err)
		}
	})
}

// TestDeletedLinkIsRestoredByACrawl checks that a crawl that finds a deleted link again, even twice, restores it with the same
// id.
func TestDeletedLinkIsRestoredByACrawl(t *testing.T) {
	each(t, func(w *world) {
		ids := w.discover("http://x.example/1")
		_, err := w.DeleteDiscoveredLinks(w.Context(), ids...)
		w.ok(err)
		w.clock.Advance(1e9)
		if again := w.discover("http://x.example/1", "http://x.example/2", "http://x.example/2"); len(again) != 2 || again[0] != ids[0] {
			w.Errorf("found again as %q, was %q", again, ids)
		}
	})
}

func TestSiteOf(t *testing.T) {
	each(t, func(w *world) {
		if _, ok, err := w.SiteOf(w.Context(), "http://a.example/x"); ok || err != nil {
			w.Errorf("there is a site: %v", err)
		}
		j := w.job("http://a.example/", 0)
		w.begin()
		w.crawlAll(func(string) []string { return []string{"http://a.example/x"} })
		site, ok, err := w.SiteOf(w.Context(), "http://A.example/x#top")
		w.ok(err)
		if !ok || site.JobID != j.ID || site.SourceID != j.SourceID || site.StatusCode != 200 || site.FetchedAt != w.Now() {
			w.Errorf("%+v", site)
		}
		site, ok, err = w.SiteOf(w.Context(), "http://a.example/other")
		w.ok(err)
		if !ok || site.JobID != j.ID || !site.FetchedAt.IsZero() {
			w.Errorf("%+v", site)
		}
		w.ok(w.DeleteJob(w.Context(), j.ID))
		if site, ok, err := w.SiteOf(w.Context(), "http://a.example/x"); err != nil || !ok || site.JobID != "" {
			w.Errorf("without a job: %+v %v", site, err)
		}
		for _, url := range []string{"http://b.example/", "ftp://a.example/", ""} {
			if _, ok, err := w.SiteOf(w.Context(), url); ok || err != nil {
				w.Errorf("%q has a site: %v", url, err)
			}
		}
	})
}
