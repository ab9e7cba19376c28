package crawl_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/crawl/fulltext"
	"linkwatch/models/modelstest"
)

// site is a test site: texts by path of http://a.example. A text is a page, and a line that begins with "->" is a link. A line
// that begins with "=>" is the canonical URL, and a line "noindex" a directive. Other texts are "status 500", "error reason",
// "moved /to" and "away /to" for permanent and temporary redirects, and "unchanged". Other paths are 404.
type site map[string]string

// crawlSite runs a job of http://a.example until it completes, and writes its report.
func (w *world) crawlSite(j crawl.Job, pages site) crawl.Execution {
	w.Helper()
	j = w.get(j)
	if j.Status == crawl.Scheduled {
		_, err := w.Act(w.Context(), j.ID, crawl.ForceRun)
		w.ok(err)
	}
	e := w.begin()
	for {
		hosts, _, err := w.ClaimHosts(w.Context(), w.me, 1, 0)
		w.ok(err)
		if len(hosts) == 0 {
			break
		}
		t := &crawl.HostBatch{Host: hosts[0]}
		t.NextAt = w.Now()
		t.Unfetched, err = w.LoadEntries(w.Context(), t.Host, crawl.MaxBatchEntries)
		w.ok(err)
		for len(t.Unfetched) > 0 {
			t.Add(w.visit(t, pages))
		}
		w.ok(w.Record(w.Context(), t))
	}
	running, err := w.RunningExecutions(w.Context(), w.me)
	w.ok(err)
	if len(running) != 1 || running[0].Queued != 0 {
		w.Fatalf("the crawl is not over: %+v", running)
	}
	w.ok(w.EndExecution(w.Context(), e, crawl.ExecutionEnd{Event: crawl.Succeed}))
	w.report()
	w.clock.Advance(time.Minute)
	e, err = w.Execution(w.Context(), e.ID)
	w.ok(err)
	return e
}

// visit returns the result of the next entry of a batch.
func (w *world) visit(t *crawl.HostBatch, pages site) crawl.Result {
	e := t.Unfetched[0]
	text, ok := pages[strings.TrimPrefix(e.URL, "http://a.example")]
	if to, moves := strings.CutPrefix(text, "moved "); moves {
		t.Unfetched = t.Unfetched[1:]
		return crawl.Result{Entry: e, Status: crawl.EntryPending, RedirectTo: "http://a.example" + to, MovedStatus: 301}
	}
	if text == "unchanged" {
		t.Unfetched = t.Unfetched[1:]
		p, _, err := w.StoredPage(w.Context(), e.Crawl.Source, e.URL)
		w.ok(err)
		p.CrawlSeq, p.FetchedAt = e.CrawlSeq, w.Now()
		r := crawl.Result{Entry: e, Status: crawl.EntryDone, Page: &p, Unchanged: true}
		followCanonical(&r)
		for l, err := range p.EachLink() {
			w.ok(err)
			r.Links = append(r.Links, crawl.FoundURL{Crawl: e.CrawlSeq, Source: e.Crawl.Source, URL: l.URL, Depth: e.Depth + 1})
		}
		return r
	}
	if reason, failed := strings.CutPrefix(text, "error "); failed {
		t.Unfetched = t.Unfetched[1:]
		return crawl.Result{Entry: e, Status: crawl.EntryFailed, Reason: reason}
	}
	if to, away := strings.CutPrefix(text, "away "); away {
		t.Unfetched = t.Unfetched[1:]
		return crawl.Result{Entry: e, Status: crawl.EntryPending, RedirectTo: "http://a.example" + to, TemporaryRedirect: true}
	}
	if status, failed := strings.CutPrefix(text, "status "); !ok || failed {
		t.Unfetched = t.Unfetched[1:]
		code := 404
		if ok {
			_, err := fmt.Sscan(status, &code)
			w.ok(err)
		}
		return crawl.Result{
			Entry: e, Status: crawl.EntryFailed, Reason: fmt.Sprintf("status %d", code), Broken: code != 403,
			Page: &crawl.Page{SourceSeq: e.Crawl.Source, CrawlSeq: e.CrawlSeq, URL: e.URL, StatusCode: code, FetchedAt: w.Now()},
		}
	}
	var links, kept, lines []string
	canonical, noindex := "", false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if to, isLink := strings.CutPrefix(line, "->"); isLink {
			links = append(links, "http://a.example"+to)
			kept = append(kept, "http://a.example"+to+"\tlink to "+to)
		} else if to, isCanonical := strings.CutPrefix(line, "=>"); isCanonical {
			canonical = to
		} else if line == "noindex" {
			noindex = true
		} else {
			lines = append(lines, line)
		}
	}
	r := fetched(t, w.Now(), links...)
	r.Page.Canonical, r.Page.NoIndex = canonical, noindex
	followCanonical(&r)
	text = strings.Join(lines, "\n")
	r.Page.Title, r.Page.ContentHash, r.Page.Text, r.Page.Links = lines[0], fmt.Sprintf("%x", text), crawl.CompressText(text), crawl.CompressText(strings.Join(kept, "\n")+"\n")
	r.Page.WordCount = len(strings.Fields(text))
	return r
}

// followCanonical adds the canonical URL of a page of http://a.example to its links, as a crawl does.
func followCanonical(r *crawl.Result) {
	e := r.Entry
	if to, ok := r.Page.OtherCanonical(); ok && !e.IsStartPage() && strings.HasPrefix(to, "http://a.example/") {
		r.Reason = crawl.ReasonCanonical
		r.Links = append(r.Links, crawl.FoundURL{Crawl: e.CrawlSeq, Source: e.Crawl.Source, URL: to, Depth: e.Depth})
	}
}

// report indexes all pages and writes all reports.
func (w *world) report() {
	w.Helper()
	for n := 1; n > 0; {
		var err error
		n, err = w.IndexNext(w.Context(), 10)
		w.ok(err)
	}
	for {
		r, err := w.NextReport(w.Context())
		w.ok(err)
		if r == nil {
			break
		}
		for done := false; !done; {
			done, err = r.Next(w.Context())
			w.ok(err)
		}
	}
	for n := 1; n > 0; {
		var err error
		n, err = w.IndexNext(w.Context(), 10)
		w.ok(err)
	}
}

func (w *world) search(f crawl.PageFilter) (urls []string) {
	w.Helper()
	list, err := w.Pages(w.Context(), f, models.Cursor{}, 50)
	w.ok(err)
	for _, p := range list.Items {
		urls = append(urls, strings.TrimPrefix(p.URL, "http://a.example"))
	}
	return urls
}

func (w *world) changes(e crawl.Execution, kind crawl.Change) (out []string) {
	w.Helper()
	var last int64
	for after, more := (models.Cursor{}), true; more; { // one at a time, so that each part starts after the previous one
		list, err := w.PageChanges(w.Context(), e, kind, after, 1)
		w.ok(err)
		for _, c := range list.Items {
			if c.Seq <= last {
				w.Errorf("change %d comes after %d", c.Seq, last)
			}
			last = c.Seq
			out = append(out, string(c.Change)+" "+strings.TrimPrefix(c.URL, "http://a.example"))
		}
		after, more = list.Next, list.More()
	}
	slices.Sort(out)
	return out
}

func (w *world) page(path string) crawl.Page {
	w.Helper()
	list, err := w.Pages(w.Context(), crawl.PageFilter{}, models.Cursor{}, 500)
	w.ok(err)
	for _, p := range list.Items {
		if p.URL == "http://a.example"+path {
			full, err := w.CrawledPage(w.Context(), p.ID())
			w.ok(err)
			return full
		}
	}
	w.Fatalf("no page %s", path)
	return crawl.Page{}
}

// TestChangesOfASite checks that crawls find new, changed, removed and restored pages, and broken links.
func TestChangesOfASite(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", time.Hour)
		first := site{
			"/": "Home\n->/a\n->/b\n->/c\n->/dead", "/a": "Alpha\nThe price is 10 euros", "/b": "Beta\nSomething\n->/dead", "/c": "Gamma\nOnly linked once",
		}
		e := w.crawlSite(j, first)
		if e.PagesNew != 4 || e.PagesChanged != 0 || e.PagesGone != 0 || e.BrokenLinks != 2 || e.ReportedPage != nil {
			w.Fatalf("the first crawl: %+v", e)
		}
		broken, err := w.BrokenLinks(w.Context(), e, models.Cursor{}, 10)
		w.ok(err)
		if len(broken.Items) != 2 || broken.Items[1].FoundOn != "http://a.example/b" || broken.Items[1].Text != "link to /dead" ||
			broken.Items[1].URL != "http://a.example/dead" || broken.Items[1].Error != "status 404" || broken.Items[1].PageID() != w.page("/b").ID() {
			w.Errorf("broken links: %+v", broken.Items)
		}
		if got := w.search(crawl.PageFilter{Query: "price"}); !slices.Equal(got, []string{"/a"}) {
			w.Errorf("search: got %v", got)
		}

		second := site{"/": "Home\n->/a\n->/b", "/a": "Alpha\nThe price is 12 euros"} // /b is now a 404, and no page links to /c
		e2 := w.crawlSite(j, second)
		if e2.PagesNew != 0 || e2.PagesChanged != 1 || e2.PagesGone != 2 || e2.BrokenLinks != 1 {
			w.Fatalf("the second crawl: %+v", e2)
		}
		if got := w.changes(e2, ""); !slices.Equal(got, []string{"changed /a", "gone /b", "gone /c"}) {
			w.Errorf("changes: %v", got)
		}
		if got := w.changes(e2, crawl.PageGone); len(got) != 2 {
			w.Errorf("pages that are gone: %v", got)
		}
		if got := w.search(crawl.PageFilter{Query: "something"}); got != nil {
			w.Errorf("search found %v, which is gone", got)
		}
		a := w.page("/a")
		versions, err := w.PageVersions(w.Context(), a)
		w.ok(err)
		if len(versions) != 2 || versions[0].Version != 2 || versions[0].Change != crawl.PageChanged || versions[1].Change != crawl.PageNew || versions[0].WordCount != 6 {
			w.Errorf("versions: %+v", versions)
		}
		v, err := w.PageVersion(w.Context(), a, 1)
		w.ok(err)
		if text, err := v.Text.Decompress(); err != nil || text != "Alpha\nThe price is 10 euros" {
			w.Errorf("the first version is %q, %v", text, err)
		}
		if _, err := w.PageVersion(w.Context(), a, 9); models.CodeOf(err) != models.CodeNotFound {
			w.Errorf("a version that does not exist: %v", err)
		}
		if text, err := a.Text.Decompress(); err != nil || text != "Alpha\nThe price is 12 euros" {
			w.Errorf("the text is %q, %v", text, err)
		}

		third := site{"/": "Home\n->/a\n->/b\n->/c", "/a": "Alpha\nThe price is 12 euros", "/b": "Beta\nSomething", "/c": "status 500"}
		e3 := w.crawlSite(j, third)
		if e3.PagesNew != 1 || e3.PagesChanged != 0 || e3.PagesGone != 0 || e3.BrokenLinks != 1 {
			w.Fatalf("the third crawl: %+v", e3)
		}
		if got := w.changes(e3, ""); !slices.Equal(got, []string{"back /b"}) {
			w.Errorf("changes: %v", got)
		}
		if got := w.search(crawl.PageFilter{Query: "something"}); !slices.Equal(got, []string{"/b"}) {
			w.Errorf("search found %v after the page came back", got)
		}
		// While a page fails, the pages that it links to do not count as gone.
		e4 := w.crawlSite(j, site{"/": "Home\n->/a\n->/b", "/a": "status 503", "/b": "Beta\nSomething"})
		if e4.PagesGone != 0 {
			w.Errorf("%d pages are gone while the site fails", e4.PagesGone)
		}
	})
}

// TestVersionsAreLimited checks that a page keeps only its newest versions.
func TestVersionsAreLimited(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", time.Hour)
		for i := range crawl.KeepVersions + 3 {
			w.crawlSite(j, site{"/": fmt.Sprintf("Home\nedition %d", i)})
		}
		versions, err := w.PageVersions(w.Context(), w.page("/"))
		w.ok(err)
		if len(versions) != crawl.KeepVersions || versions[0].Version != crawl.KeepVersions+3 || versions[len(versions)-1].Version != 4 {
			w.Errorf("%d versions, from %d to %d", len(versions), versions[len(versions)-1].Version, versions[0].Version)
		}
	})
}

// TestSearchOfPages checks filters by source, language and date, snippets, and paging.
func TestSearchOfPages(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", time.Hour)
		pages := site{"/": "Home\n->/p0"}
		for i := range 12 {
			pages[fmt.Sprintf("/p%d", i)] = fmt.Sprintf("Page %d\nThe quick fox number %d\n->/p%d", i, i, i+1)
		}
		w.crawlSite(j, pages)
		var all []string
		var after models.Cursor
		for {
			list, err := w.Pages(w.Context(), crawl.PageFilter{Query: "quick fox", SourceID: j.SourceID}, after, 5)
			w.ok(err)
			if list.Total != 12 || list.TotalCapped {
				w.Fatalf("%d results, more %v", list.Total, list.TotalCapped)
			}
			for _, p := range list.Items {
				all = append(all, p.URL)
				if !slices.Contains(p.Snippet, fulltext.Piece{Text: "quick", Match: true}) {
					w.Errorf("snippet %+v", p.Snippet)
				}
			}
			if after = list.Next; !list.More() {
				break
			}
		}
		slices.Sort(all)
		if len(slices.Compact(all)) != 12 {
			w.Errorf("the pages of the search have %d results", len(all))
		}
		today := w.Now().Time
		for name, c := range map[string]struct {
			f    crawl.PageFilter
			want int
		}{
			"today":           {crawl.PageFilter{Query: "fox", Since: today.AddDate(0, 0, -1), Till: today}, 12},
			"tomorrow":        {crawl.PageFilter{Query: "fox", Since: today.AddDate(0, 0, 1)}, 0},
			"without words":   {crawl.PageFilter{Since: today.AddDate(0, 0, -1)}, 13},
			"a language":      {crawl.PageFilter{Query: "fox", Language: "de"}, 0},
			"another source":  {crawl.PageFilter{Query: "fox", SourceID: models.NewID(models.KindSource)}, 0},
			"not a source":    {crawl.PageFilter{Query: "fox", SourceID: "x"}, 0},
			"no page has it":  {crawl.PageFilter{Query: "absent"}, 0},
			"not these words": {crawl.PageFilter{Query: `fox -"number 3"`}, 11},
		} {
			if got := w.search(c.f); len(got) != c.want {
				w.Errorf("%s: %d results, want %d", name, len(got), c.want)
			}
		}
		if _, err := w.Pages(w.Context(), crawl.PageFilter{Query: `"`}, models.Cursor{}, 5); models.CodeOf(err) != models.CodeInvalid {
			w.Errorf("a query that cannot be read: %v", err)
		}
		if lag, err := w.IndexLag(w.Context()); err != nil || lag != (crawl.Lag{}) {
			w.Errorf("the index is behind: %+v, %v", lag, err)
		}
		// Pages of a deleted source are not found.
		w.ok(w.DeleteSource(w.Context(), j.SourceID))
		if got := w.search(crawl.PageFilter{Query: "fox"}); got != nil {
			w.Errorf("found %v of a deleted source", got)
		}
	})
}

// TestDamagedTextIsNotIndexed checks that a page with a damaged text is not indexed and does not block other pages.
func TestDamagedTextIsNotIndexed(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", time.Hour)
		w.crawlSite(j, site{"/": "Home\nfox"})
		modelstest.Exec(w.T, w.db, "UPDATE page_versions SET text = ?", []byte("x"))
		modelstest.Exec(w.T, w.db, "UPDATE crawled_pages SET unindexed = true")
		w.report()
		if got := w.search(crawl.PageFilter{Query: "fox"}); got != nil {
			w.Errorf("found %v", got)
		}
	})
}

// TestGonePages checks that a page that cannot be read now keeps the pages that it may link to. Pages that were removed,
// redirect or have another canonical URL are gone.
func TestGonePages(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", time.Hour)
		pages := site{"/": "Home\n->/hub\n->/old", "/hub": "Hub\n->/k1\n->/k2", "/k1": "One", "/k2": "Two", "/old": "Old"}
		w.crawlSite(j, pages)
		pages["/hub"] = "status 403"
		if e := w.crawlSite(j, pages); e.PagesGone != 0 {
			t.Errorf("got %d gone pages while the pages that link to them cannot be read", e.PagesGone)
		}
		pages["/hub"] = "Hub\n->/k1\n->/k2"
		if e := w.crawlSite(j, pages); e.PagesNew != 0 || e.PagesGone != 0 {
			t.Errorf("after that: got %+v", e)
		}
		pages["/old"] = "moved /k1"
		e := w.crawlSite(j, pages)
		if got := w.changes(e, ""); e.PagesGone != 1 || !slices.Equal(got, []string{"gone /old"}) {
			t.Errorf("redirect: got %d gone, %v", e.PagesGone, got)
		}
		if got := w.search(crawl.PageFilter{Query: "old"}); got != nil {
			t.Errorf("search: got %v, which redirects", got)
		}
		// The job has no other history, however long ago its last crawl was.
		modelstest.Exec(w.T, w.db, "DELETE FROM job_executions")
		delete(pages, "/k2")
		pages["/hub"] = "Hub\n->/k1"
		if e := w.crawlSite(j, pages); e.PagesGone != 1 {
			t.Errorf("got %d gone pages after the earlier executions were deleted", e.PagesGone)
		}
	})
}

// TestTemporaryRedirectsKeepThePage checks that a page with a temporary redirect, to a known or a new page, does not change.
func TestTemporaryRedirectsKeepThePage(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", time.Hour)
		pages := site{"/": "Home\n->/a\n->/b\n->/c", "/a": "Alpha\nfox", "/b": "Beta", "/c": "Gamma\nfox"}
		w.crawlSite(j, pages)
		pages["/a"], pages["/c"], pages["/login"] = "away /b", "away /login", "Log in"
		for run, want := range [][]string{{"new /login"}, nil} {
			e := w.crawlSite(j, pages)
			if got := w.changes(e, ""); !slices.Equal(got, want) || e.PagesGone != 0 || e.PagesChanged != 0 || e.PagesNew != len(want) || e.ItemsCrawled != 3 {
				t.Errorf("run %d: got %v, %+v", run, got, e)
			}
			for _, path := range []string{"/a", "/c"} {
				if p := w.page(path); !p.GoneAt.IsZero() || p.Versions != 1 || p.TextVersion != 1 || p.StatusCode != 200 {
					t.Errorf("%s: got %+v", path, p)
				}
			}
			if got := w.search(crawl.PageFilter{Query: "fox"}); len(got) != 2 {
				t.Errorf("search: got %v", got)
			}
		}
		pages["/a"], pages["/c"] = "Alpha\nfox", "Gamma\nwolf"
		e := w.crawlSite(j, pages)
		if got := w.changes(e, ""); !slices.Equal(got, []string{"changed /c", "gone /login"}) {
			t.Errorf("afterwards: got %v", got)
		}
		pages["/a"] = "moved /b"
		e = w.crawlSite(j, pages)
		if got := w.changes(e, ""); !slices.Equal(got, []string{"gone /a"}) {
			t.Errorf("after a permanent move: got %v", got)
		}
		pages["/a"] = "away /c" // which does not restore it
		if e = w.crawlSite(j, pages); w.changes(e, "") != nil || w.page("/a").GoneAt.IsZero() {
			t.Errorf("got changes %v of a page that was gone before", w.changes(e, ""))
		}
	})
}

// TestGonePagesAreRequestedInFull checks that a page that was gone is requested unconditionally, so that its return is seen.
func TestGonePagesAreRequestedInFull(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", time.Hour)
		w.crawlSite(j, site{"/": "Home\n->/a\n->/b", "/a": "Alpha", "/b": "Beta"})
		modelstest.Exec(w.T, w.db, "UPDATE crawled_pages SET etag = 'v1'")
		w.crawlSite(j, site{"/": "Home\n->/b"}) // /a: no page links to it; /b: 404
		for _, path := range []string{"/a", "/b"} {
			if p := w.page(path); p.GoneAt.IsZero() || p.ETag != "" {
				t.Errorf("%s: got gone at %v, ETag %q", path, p.GoneAt, p.ETag)
			}
		}
	})
}

// TestLateReport checks that a report that is written after the next crawl has started still has its broken links.
func TestLateReport(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", time.Hour)
		pages := site{"/": "Home\n->/a", "/a": "Alpha\n->/dead"}
		e := w.crawlSite(j, pages)
		modelstest.Exec(w.T, w.db, "DELETE FROM broken_links")
		modelstest.Exec(w.T, w.db, "UPDATE job_executions SET broken_links = 0, reported_page = 0 WHERE id = ?", e.ID)
		w.crawlSite(j, pages) // writes both reports
		e, err := w.Execution(w.Context(), e.ID)
		w.ok(err)
		if e.BrokenLinks != 1 || e.ReportedPage != nil {
			t.Errorf("first execution: got %d broken links", e.BrokenLinks)
		}
	})
}
