package crawl_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// listed returns the paths of the listed pages of http://a.example, sorted.
func (w *world) listed() []string {
	w.Helper()
	paths := w.search(crawl.PageFilter{})
	slices.Sort(paths)
	return paths
}

// found returns the paths of the pages that a search finds, sorted.
func (w *world) found(query string) []string {
	w.Helper()
	paths := w.search(crawl.PageFilter{Query: query})
	slices.Sort(paths)
	return paths
}

// wantCopy checks that lists and searches show /copy, or leave it out.
func (w *world) wantCopy(when string, shown bool) {
	w.Helper()
	if slices.Contains(w.listed(), "/copy") != shown || slices.Contains(w.found("fox"), "/copy") != shown {
		w.Errorf("%s: listed %v, found %v", when, w.listed(), w.found("fox"))
	}
}

// TestCanonicalURLIsAHint checks that a page is listed and found unless its canonical URL is a good page of its own.
func TestCanonicalURLIsAHint(t *testing.T) {
	for name, c := range map[string]struct {
		pages     site
		duplicate bool
	}{
		"good":                        {site{"/original": "Original\nfox"}, true},
		"names itself":                {site{"/original": "Original\nfox\n=>HTTP://A.Example:80/original?utm_source=x#top"}, true},
		"not found":                   {nil, false},
		"gone":                        {site{"/original": "status 410"}, false},
		"broken":                      {site{"/original": "status 500"}, false},
		"forbidden":                   {site{"/original": "status 403"}, false},
		"unreachable":                 {site{"/original": "error timed out"}, false},
		"disallowed":                  {site{"/original": "error " + crawl.ReasonRobots}, false},
		"a trap":                      {site{"/original": "error URL path is too deep"}, false},
		"redirects back":              {site{"/original": "moved /copy"}, false},
		"redirects back for now":      {site{"/original": "away /copy"}, false},
		"redirects to another":        {site{"/original": "moved /other", "/other": "Other\nfox"}, false},
		"redirects out":               {site{"/original": "error " + crawl.ReasonOutside}, false},
		"redirects in a loop":         {site{"/original": "error " + crawl.ReasonRedirects}, false},
		"noindex":                     {site{"/original": "Original\nfox\nnoindex"}, false},
		"mutual":                      {site{"/original": "Original\nfox\n=>http://a.example/copy"}, false},
		"a chain":                     {site{"/original": "Original\nfox\n=>http://a.example/other", "/other": "Other\nfox"}, false},
		"a chain to nowhere":          {site{"/original": "Original\nfox\n=>http://a.example/other"}, false},
		"a chain out":                 {site{"/original": "Original\nfox\n=>http://b.example/"}, false},
		"the start page":              {site{"/copy": "Copy\nfox\n=>http://a.example/"}, true},
		"itself":                      {site{"/copy": "Copy\nfox\n=>http://a.example/copy#top"}, false},
		"none":                        {site{"/copy": "Copy\nfox"}, false},
		"another host":                {site{"/copy": "Copy\nfox\n=>http://b.example/original", "/original": "Original\nfox"}, false},
		"with a trailing slash":       {site{"/copy": "Copy\nfox\n=>http://a.example/copy/", "/copy/": "Copy\nfox"}, true},
		"with a slash, redirect back": {site{"/copy": "Copy\nfox\n=>http://a.example/copy/", "/copy/": "moved /copy"}, false},
		"in other letters":            {site{"/copy": "Copy\nfox\n=>http://a.example/%c3%a9", "/%C3%A9": "Copy\nfox\n=>http://a.example/%c3%a9"}, true},
		"in other letters, a loop":    {site{"/copy": "Copy\nfox\n=>http://a.example/%43opy", "/%43opy": "moved /copy"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				pages := site{"/": "Home\n->/copy", "/copy": "Copy\nfox\n=>http://a.example/original\n->/below", "/below": "Below"}
				maps.Copy(pages, c.pages)
				j := w.job("http://a.example/", time.Hour)
				for _, when := range []string{"first", "second", "unchanged"} {
					e := w.crawlSite(j, pages)
					w.wantCopy(when, !c.duplicate)
					changes := w.changes(e, "")
					if e.PagesNew != len(changes) || e.PagesGone != 0 {
						w.Errorf("%s: changes %v, %+v", when, changes, e)
					}
					if when != "first" && changes != nil {
						w.Errorf("%s: changes %v", when, changes)
					}
					below := strings.Contains(pages["/copy"], "->/below")
					if when == "first" && (slices.Contains(changes, "new /copy") == c.duplicate || slices.Contains(changes, "new /below") != below) {
						w.Errorf("%s: changes %v", when, changes)
					}
					if when == "second" {
						pages["/copy"] = "unchanged"
					}
				}
				if got := modelstest.Events(w.T, w.db); len(got) != 0 {
					w.Errorf("events %v", got)
				}
			})
		})
	}
}

// TestDuplicatesInAnyOrder checks that the order in which a page and its canonical URL are fetched does not matter.
func TestDuplicatesInAnyOrder(t *testing.T) {
	for name, pages := range map[string]site{
		"page first":      {"/": "Home\n->/copy", "/copy": "Copy\nfox\n=>http://a.example/original", "/original": "Original\nfox"},
		"canonical first": {"/": "Home\n->/original", "/copy": "Copy\nfox\n=>http://a.example/original", "/original": "Original\nfox\n->/copy"},
		"in one batch":    {"/": "Home\n->/copy\n->/original", "/copy": "Copy\nfox\n=>http://a.example/original", "/original": "Original\nfox"},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				j := w.job("http://a.example/", time.Hour)
				e := w.crawlSite(j, pages)
				if got := w.found("fox"); e.PagesNew != 2 || !slices.Equal(got, []string{"/original"}) {
					w.Errorf("found %v, %+v", got, e)
				}
			})
		})
	}
}

// TestCanonicalURLDies checks that a duplicate is listed again as soon as a crawl finds that its canonical URL is no good page any
// more, and that it is a duplicate again after that.
func TestCanonicalURLDies(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", time.Hour)
		const named = "Copy\nfox\n=>http://a.example/original"
		pages := site{"/": "Home\n->/copy\n->/original", "/copy": named, "/original": "Original\nfox"}
		step := func(when string, shown bool, want ...string) {
			t.Helper()
			e := w.crawlSite(j, pages)
			w.wantCopy(when, shown)
			news, changed, gone := 0, 0, 0
			for _, c := range want {
				switch kind, _, _ := strings.Cut(c, " "); kind {
				case "new", "back":
					news++
				case "changed":
					changed++
				case "gone":
					gone++
				}
			}
			if got := w.changes(e, ""); !slices.Equal(got, want) || e.PagesNew != news || e.PagesChanged != changed || e.PagesGone != gone {
				t.Errorf("%s: changes %v, %d new, %d changed, %d gone", when, got, e.PagesNew, e.PagesChanged, e.PagesGone)
			}
		}
		step("good", false, "new /", "new /original")
		pages["/copy"] = "unchanged"
		for _, bad := range []string{"status 404", "moved /copy", "away /copy", "status 503", "error " + crawl.ReasonRobots, "Original\nfox\nnoindex"} {
			original := w.page("/original")
			pages["/original"] = bad
			w.crawlSite(j, pages)
			w.wantCopy(bad, true)
			pages["/original"] = "Original\nfox"
			w.crawlSite(j, pages)
			w.wantCopy("good after "+bad, false)
			if p := w.page("/original"); p.ID() != original.ID() || !p.GoneAt.IsZero() {
				t.Errorf("%s: got %+v", bad, p)
			}
		}
		pages["/copy"] = "Copy\nred fox\n=>http://a.example/original"
		step("changed", false)
		pages["/copy"] = "status 500"
		step("fails", false)
		pages["/copy"] = "away /original"
		step("redirects for now", false)
		pages["/copy"], pages["/original"] = "Copy\nbrown fox\n=>http://a.example/original", "status 404"
		step("changed while the other one dies", true, "changed /copy", "gone /original")
		pages["/original"] = "Original\nfox"
		step("both", false, "back /original")
		pages["/copy"] = "Copy\nbrown fox"
		step("names none", true)
		pages["/copy"] = "Copy\ngrey fox\n=>http://a.example/original"
		step("changes and names it again", false)
		pages["/copy"] = "status 404"
		step("removed", false)
		pages["/copy"] = named
		step("back", false)
		pages["/copy"] = "moved /original"
		step("moved", false)
		pages["/copy"] = named
		step("back again", false)
		pages["/"] = "Home\n->/original"
		step("unlinked", false)
		for _, e := range modelstest.Events(w.T, w.db) {
			if strings.Contains(e, "/copy") && !strings.Contains(e, "fox") {
				t.Errorf("event %q", e)
			}
		}
	})
}

// TestNamingNoCanonicalURLShowsAPageAtOnce checks that a duplicate that names no other canonical URL any more is listed before the
// crawl has completed.
func TestNamingNoCanonicalURLShowsAPageAtOnce(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", time.Hour)
		pages := site{"/": "Home\n->/copy", "/copy": "Copy\nfox\n=>http://a.example/original", "/original": "Original\nfox"}
		w.crawlSite(j, pages)
		pages["/copy"] = "Copy\nfox"
		_, err := w.Act(w.Context(), j.ID, crawl.ForceRun)
		w.ok(err)
		e := w.begin()
		for range 2 { // the start page, and its links
			turn := w.turn()
			for len(turn.Unfetched) > 0 {
				turn.Add(w.visit(turn, pages))
			}
			w.ok(w.Record(w.Context(), turn))
		}
		w.ok(w.EndExecution(w.Context(), e, crawl.ExecutionEnd{Event: crawl.Fail, Error: "x"}))
		w.report()
		w.wantCopy("during the crawl", true)
	})
}

// TestDuplicatesHaveNoBrokenLinks checks that broken links are reported for the canonical page and not for its duplicates.
func TestDuplicatesHaveNoBrokenLinks(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", time.Hour)
		e := w.crawlSite(j, site{"/": "Home\n->/copy", "/copy": "Copy\n=>http://a.example/original\n->/dead", "/original": "Original\n->/dead"})
		if e.BrokenLinks != 1 {
			t.Errorf("got %d broken links", e.BrokenLinks)
		}
	})
}

// TestPagesThatCountedAsMoved checks that the next crawl restores pages that an earlier version of the program marked as gone because
// of a canonical URL.
func TestPagesThatCountedAsMoved(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", time.Hour)
		pages := site{"/": "Home\n->/copy", "/copy": "Copy\nfox\n=>http://a.example/original", "/original": "moved /copy"}
		w.crawlSite(j, pages)
		modelstest.Exec(w.T, w.db, "UPDATE crawled_pages SET gone_at = fetched_at, etag = '', unindexed = true, versions = 2 WHERE url LIKE '%/copy'")
		modelstest.Exec(w.T, w.db, `INSERT INTO page_versions (page_seq, version, change, crawl_seq, status_code, title, content_hash, word_count, created_at)
			SELECT seq, 2, 'gone', crawl_seq, 200, title, '', 0, fetched_at FROM crawled_pages WHERE url LIKE '%/copy'`)
		if e := w.crawlSite(j, pages); !slices.Equal(w.changes(e, ""), []string{"back /copy"}) || !w.page("/copy").GoneAt.IsZero() {
			t.Errorf("got changes %v", w.changes(e, ""))
		}
		w.wantCopy("after the next crawl", true)
	})
}

// TestDuplicatesAreFoundByIndex checks that a report finds duplicates with a constant number of statements, which read a large
// frontier by an index on each engine.
func TestDuplicatesAreFoundByIndex(t *testing.T) {
	each(t, func(w *world) {
		statements := 0
		for _, n := range []int{1, 60} {
			host := fmt.Sprintf("http://h%d.example", n)
			j := w.job(host+"/", 0)
			e := w.begin()
			links, changes := []string{host + "/original"}, map[string]func(*crawl.Result){}
			for i := range n {
				url := fmt.Sprintf("%s/copy/%d", host, i)
				links = append(links, url)
				changes[url] = func(r *crawl.Result) { r.Page.Canonical, r.Reason = host+"/original", crawl.ReasonCanonical }
			}
			w.fetchAll(changes, links...)
			w.ok(w.EndExecution(w.Context(), e, crawl.ExecutionEnd{Event: crawl.Succeed}))
			rows := models.NewRows("url text, url_hash bytes")
			for i := range 20_000 {
				rows.Add(fmt.Sprintf("%s/%d", host, i), fmt.Appendf(nil, "%016d", i))
			}
			w.ok(w.db.Write(w.Context(), func(tx *gorm.DB) error {
				return rows.Exec(tx, `INSERT INTO frontier (crawl_seq, source_seq, host_seq, url, url_hash, depth, status, attempts, redirects, last_error, created_at, updated_at)
					SELECT ?, 1, 1, r.url, r.url_hash, 1, 'done', 0, 0, '', 1, 1 FROM {rows} AS r`, e.CrawlSeq).Error
			}))
			modelstest.Exec(w.T, w.db, "ANALYZE frontier")
			r, err := w.NextReport(w.Context())
			w.ok(err)
			sent := modelstest.Sent(w.T, w.db, func() error { _, err := r.Next(w.Context()); return err })
			if statements == 0 {
				statements = len(sent)
			}
			if len(sent) != statements {
				w.Errorf("%d duplicates: %d statements, want %d", n, len(sent), statements)
			}
			for _, s := range sent {
				if w.db.Engine == models.SQLite {
					for _, step := range modelstest.Plan(w.T, w.db, s) {
						if modelstest.ReadsAll(step) && step != "SCAN r" { // the rows of the statement itself
							w.Errorf("%s\n%s", s.SQL, step)
						}
					}
				} else if strings.Contains(s.SQL, "frontier") {
					if plan := w.explained("EXPLAIN ", s); strings.Contains(plan, "Seq Scan on frontier") {
						w.Errorf("%s\n%s", s.SQL, plan)
					}
				}
			}
			list, err := w.Pages(w.Context(), crawl.PageFilter{SourceID: j.SourceID}, models.Cursor{}, 500)
			w.ok(err)
			if len(list.Items) != 2 {
				w.Errorf("%d duplicates: %d pages are listed", n, len(list.Items))
			}
		}
	})
}

// TestManuallyAddedDuplicates checks that a page that was added manually is a duplicate if its canonical URL is stored already as a good
// page. Otherwise it is listed.
func TestManuallyAddedDuplicates(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", time.Hour)
		w.crawlSite(j, site{"/": "Home\n->/original\n->/noindex\n->/named", "/original": "Original\nfox", "/noindex": "No\nfox\nnoindex", "/named": "Named\nfox\n=>http://a.example/copy"})
		fetch := func(when, text string, shown bool) {
			t.Helper()
			_, _, err := w.AddEntry(w.Context(), "http://a.example/copy", j.SourceID)
			w.ok(err)
			turn := w.turn()
			turn.Add(w.visit(turn, site{"/copy": text}))
			w.ok(w.Record(w.Context(), turn))
			w.report()
			w.wantCopy(when, shown)
		}
		fetch("a good canonical URL", "Copy\nfox\n=>http://a.example/original", false)
		modelstest.Exec(w.T, w.db, "UPDATE crawled_pages SET noindex = true WHERE url LIKE '%/original'")
		fetch("unchanged, while its canonical URL is no good page any more", "unchanged", true)
		modelstest.Exec(w.T, w.db, "UPDATE crawled_pages SET noindex = false WHERE url LIKE '%/original'")
		fetch("unchanged again", "unchanged", false)
		fetch("broken", "status 500", false)
		fetch("none", "Copy\nfox", true)
		for _, bad := range []string{"/noindex", "/named", "/unknown"} {
			fetch(bad, "Copy\nfox\n=>http://a.example"+bad, true)
		}
		if got := modelstest.Events(w.T, w.db); len(got) != 0 {
			t.Errorf("events %v", got)
		}
	})
}
