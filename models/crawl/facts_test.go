package crawl_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// facts formats the facts of a path of http://a.example, without ids and times.
func (w *world) facts(path string) string {
	w.Helper()
	url := "http://a.example" + path
	all, err := w.FactsOf(w.Context(), []string{url})
	w.ok(err)
	f, ok := all[url]
	if !ok {
		return "nothing"
	}
	said := fmt.Sprintf("%d words=%d", f.StatusCode, f.Words)
	if f.SourceID == "" {
		w.Errorf("%s: facts without a source: %+v", path, f)
	}
	for _, flag := range []struct {
		name string
		set  bool
	}{{"noindex", f.NoIndex}, {"other canonical", f.OtherCanonical}, {"robots", f.Robots}, {"redirects", f.Redirects}, {"unlinked", f.Unlinked}} {
		if flag.set {
			said += " " + flag.name
		}
	}
	for _, text := range []struct{ name, value string }{{"canonical", f.Canonical}, {"to", f.RedirectsTo}, {"error", f.Error}} {
		if text.value != "" {
			said += " " + text.name + "=" + strings.TrimPrefix(text.value, "http://a.example")
		}
	}
	return said
}

// wantFacts compares the facts of paths.
func (w *world) wantFacts(when string, want map[string]string) {
	w.Helper()
	for path, said := range want {
		if got := w.facts(path); got != said {
			w.Errorf("%s, %s: got %q, want %q", when, path, got, said)
		}
	}
}

// crawlPages runs a job of http://a.example/ once. Its start page links to all paths. The result of each path is a page of
// 300 words that its function in changes modifies.
func (w *world) crawlPages(j crawl.Job, changes map[string]func(*crawl.Result)) {
	w.Helper()
	j = w.get(j)
	if j.Status == crawl.Scheduled {
		_, err := w.Act(w.Context(), j.ID, crawl.ForceRun)
		w.ok(err)
	}
	e := w.begin()
	var links []string
	for path := range changes {
		links = append(links, "http://a.example"+path)
	}
	w.fetchAll(changes, links...)
	w.ok(w.EndExecution(w.Context(), e, crawl.ExecutionEnd{Event: crawl.Succeed}))
	w.report()
	w.clock.Advance(time.Minute)
}

// fetchAll fetches all entries with results as in crawlPages. Each page links to links.
func (w *world) fetchAll(changes map[string]func(*crawl.Result), links ...string) {
	w.Helper()
	for {
		hosts, _, err := w.ClaimHosts(w.Context(), w.me, 1, 0)
		w.ok(err)
		if len(hosts) == 0 {
			return
		}
		t := &crawl.HostBatch{Host: hosts[0]}
		t.NextAt = w.Now()
		t.Unfetched, err = w.LoadEntries(w.Context(), t.Host, crawl.MaxBatchEntries)
		w.ok(err)
		for len(t.Unfetched) > 0 {
			r := fetched(t, w.Now(), links...)
			r.Page.ContentType, r.Page.WordCount = "text/html", 300
			if change := changes[strings.TrimPrefix(r.Entry.URL, "http://a.example")]; change != nil {
				change(&r)
			}
			t.Add(r)
		}
		w.ok(w.Record(w.Context(), t))
	}
}

func status(code int) func(*crawl.Result) {
	return func(r *crawl.Result) {
		r.Page.StatusCode, r.Status, r.Reason, r.Broken = code, crawl.EntryFailed, fmt.Sprint("status ", code), true
	}
}

func failed(reason string) func(*crawl.Result) {
	return func(r *crawl.Result) { r.Page, r.Status, r.Reason = nil, crawl.EntryFailed, reason }
}

func movedTo(path string) func(*crawl.Result) {
	return func(r *crawl.Result) {
		r.Page, r.Status, r.RedirectTo, r.MovedStatus = nil, crawl.EntryPending, "http://a.example"+path, 301
	}
}

func names(path string) func(*crawl.Result) {
	return func(r *crawl.Result) { r.Page.Canonical = "http://a.example" + path }
}

// insteadOf sets another page within the allowed domains as canonical.
func insteadOf(path string) func(*crawl.Result) {
	return func(r *crawl.Result) {
		names(path)(r)
		r.Reason = crawl.ReasonCanonical
	}
}

func plain(*crawl.Result) {}

func TestFactsOfPages(t *testing.T) {
	each(t, func(w *world) {
		w.wantFacts("before a crawl", map[string]string{"/": "nothing"})
		j := w.job("http://a.example/", time.Hour)
		w.wantFacts("before the first crawl", map[string]string{"/": "nothing"})
		first := map[string]func(*crawl.Result){
			"/": plain, "/plain": plain, "/moves": plain, "/copies": plain, "/breaks": plain, "/goes": plain, "/back": plain, "/unlinked": plain,
			"/slash/": plain, "/q/?a=1": plain, "/both": movedTo("/both/"), "/both/": plain,
			"/noindex":      func(r *crawl.Result) { r.Page.NoIndex = true },
			"/pdf":          func(r *crawl.Result) { r.Page.ContentType, r.Page.WordCount = "application/pdf", 0 },
			"/self":         names("/self/"),
			"/other":        names("/plain"),
			"/away":         func(r *crawl.Result) { movedTo("/plain")(r); r.MovedStatus, r.TemporaryRedirect = 0, true },
			"/new-copy":     insteadOf("/plain"),
			"/new-robots":   failed(crawl.ReasonRobots),
			"/new-loop":     failed(crawl.ReasonRedirects),
			"/new-outside":  failed(crawl.ReasonOutside),
			"/new-timeout":  failed("timed out"),
			"/new-location": failed("status 302 without a valid Location"),
			"/new-moved":    movedTo("/target"),
			"/target":       plain,
			"/404":          status(404), "/503": status(503),
			"/302": func(r *crawl.Result) { r.Page.StatusCode = 302 },
		}
		w.crawlPages(j, first)
		w.wantFacts("after the first crawl", map[string]string{
			"": "200 words=300", "/": "200 words=300", "/plain": "200 words=300", "/plain/": "200 words=300",
			"/slash": "200 words=300", "/slash/": "200 words=300", "/q?a=1": "200 words=300", "/q/?a=1&utm_source=x": "200 words=300",
			"/both": "200 words=300", "/both/": "200 words=300",
			"/noindex": "200 words=300 noindex", "/pdf": "200 words=-1",
			"/self": "200 words=300 canonical=/self/", "/other": "200 words=300 other canonical canonical=/plain",
			"/new-copy": "200 words=300 other canonical canonical=/plain", "/new-robots": "0 words=-1 robots", "/new-loop": "0 words=-1 redirects error=too many redirects",
			"/new-outside": "0 words=-1 redirects", "/new-timeout": "0 words=-1 error=timed out",
			"/new-location": "302 words=-1 error=status 302 without a valid Location",
			"/404":          "404 words=-1", "/503": "503 words=-1", "/302": "302 words=-1 redirects",
			"/new-nowhere": "0 words=-1 unlinked",
		})
		// Two redirects to /plain and /target, which the crawl has. One is a duplicate, and the other may come first.
		for path, want := range map[string]string{"/away": "redirects", "/new-moved": "redirects"} {
			if got := w.facts(path); !strings.Contains(got, want) {
				w.Errorf("%s: got %q", path, got)
			}
		}

		second := map[string]func(*crawl.Result){
			"/": plain, "/plain": plain, "/moves": movedTo("/moved"), "/copies": insteadOf("/plain"), "/breaks": status(500), "/goes": status(410),
			"/back": failed(crawl.ReasonRobots),
		}
		w.crawlPages(j, second)
		gone := map[string]string{
			"/breaks": "500 words=-1", "/goes": "410 words=-1",
		}
		w.wantFacts("after the second crawl", gone)
		w.wantFacts("after the second crawl", map[string]string{
			"/moves": "0 words=-1 redirects to=/moved", "/copies": "200 words=300 other canonical canonical=/plain", "/back": "0 words=-1 robots",
			"/noindex": "200 words=300 noindex unlinked", "/unlinked": "200 words=300 unlinked",
		})

		modelstest.Exec(w.T, w.db, "DELETE FROM frontier")
		w.clock.Advance(crawl.KeepFrontier + time.Hour)
		w.wantFacts("without the frontier", gone)
		w.wantFacts("without the frontier", map[string]string{
			"/moves": "301 words=-1 redirects", "/copies": "200 words=300 other canonical canonical=/plain", "/back": "200 words=300", "/unlinked": "200 words=300",
			"/new-robots": "nothing", "/new-nowhere": "nothing", "/plain": "200 words=300",
		})
		_, err := w.DeletePages(w.Context(), w.page("/plain").ID())
		w.ok(err)
		w.wantFacts("deleted", map[string]string{"/plain": "nothing"})
	})
}

// TestFactsOfUnlinkedPages checks that unlinked pages, which reports find, are known as long as the page is stored.
func TestFactsOfUnlinkedPages(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", time.Hour)
		w.crawlPages(j, map[string]func(*crawl.Result){"/a": func(r *crawl.Result) { r.Page.NoIndex = true }})
		w.crawlPages(j, nil)
		modelstest.Exec(w.T, w.db, "DELETE FROM frontier")
		w.clock.Advance(crawl.KeepFrontier + time.Hour)
		w.wantFacts("without the frontier", map[string]string{"/a": "200 words=300 noindex unlinked", "/": "200 words=300"})
		w.crawlPages(j, map[string]func(*crawl.Result){"/a": status(500)})
		w.wantFacts("broken since", map[string]string{"/a": "500 words=-1"})
	})
}

// TestFactsOfSeveralSources checks that the most recently fetched page of all sources of a host counts.
func TestFactsOfSeveralSources(t *testing.T) {
	each(t, func(w *world) {
		old := w.job("http://a.example/", 0)
		w.crawlPages(old, map[string]func(*crawl.Result){"/a": status(404), "/b": plain})
		www := w.job("http://www.a.example/", 0)
		w.crawlPages(www, map[string]func(*crawl.Result){"/a": plain})
		above, err := w.AddSource(w.Context(), crawl.NewSource{URL: "http://a.example/all", Enabled: true, AllowedDomains: []string{"a.example"}})
		w.ok(err)
		all, err := w.AddJob(w.Context(), crawl.NewJob{SourceID: above.ID, Interval: crawl.Interval{Type: crawl.Minutes}})
		w.ok(err)
		w.crawlPages(all, nil)
		got, err := w.FactsOf(w.Context(), []string{
			"http://a.example/a", "http://a.example/b", "http://sub.a.example/", "http://a.example:8080/a", "https://a.example/a", "http://b.test/", "nonsense", "",
		})
		w.ok(err)
		if f := got["http://a.example/a"]; f.StatusCode != 200 || f.SourceID != www.SourceID || f.PageID == "" || f.FetchedAt.IsZero() {
			w.Errorf("of two sources: %+v", f)
		}
		if f := got["http://a.example/b"]; f.StatusCode != 200 || f.SourceID != old.SourceID {
			w.Errorf("of the older source: %+v", f)
		}
		if f := got["http://sub.a.example/"]; !f.Unlinked || f.SourceID != above.ID || f.PageID != "" {
			w.Errorf("of a source of the domain above: %+v", f)
		}
		if f := got["https://a.example/a"]; !f.Unlinked || f.StatusCode != 0 {
			w.Errorf("of another scheme: %+v", f)
		}
		if len(got) != 4 { // the source of another port does not have http://a.example:8080/a
			w.Errorf("facts of %d URLs: %+v", len(got), got)
		}
	})
}

// TestFactsDuringACrawl checks that a running or failed crawl does not make pages unlinked.
func TestFactsDuringACrawl(t *testing.T) {
	each(t, func(w *world) {
		w.job("http://a.example/", 0)
		e := w.begin()
		w.wantFacts("running", map[string]string{"/x": "nothing"})
		w.ok(w.EndExecution(w.Context(), e, crawl.ExecutionEnd{Event: crawl.Fail, Error: "x"}))
		w.wantFacts("failed", map[string]string{"/x": "nothing"})
	})
}

func TestFactsOfManyURLs(t *testing.T) {
	each(t, func(w *world) {
		w.crawlPages(w.job("http://a.example/", 0), map[string]func(*crawl.Result){"/1": plain})
		var urls []string
		for i := range crawl.MaxFacts {
			urls = append(urls, fmt.Sprintf("http://a.example/%d", i))
		}
		queries := modelstest.Queries(w.T, w.db)
		for _, some := range [][]string{urls[:1], urls} {
			queries.Store(0)
			all, err := w.FactsOf(w.Context(), some)
			w.ok(err)
			if n := queries.Load(); n != 5 || len(all) != len(some) || len(some) > 1 && (all[urls[1]].StatusCode != 200 || !all[urls[2]].Unlinked) {
				w.Errorf("%d URLs: %d queries, %d facts", len(some), n, len(all))
			}
		}
		queries.Store(0)
		if all, err := w.FactsOf(w.Context(), nil); err != nil || len(all) != 0 || queries.Load() != 0 {
			w.Errorf("none: %v %v, %d queries", all, err, queries.Load())
		}
		if _, err := w.FactsOf(w.Context(), append(urls, "http://a.example/more")); models.CodeOf(err) != models.CodeInvalid {
			w.Errorf("too many: %v", err)
		}
		ctx, cancel := context.WithCancel(w.Context())
		cancel()
		if all, err := w.FactsOf(ctx, urls); err == nil || all != nil || models.CodeOf(err) == models.CodeInvalid {
			w.Errorf("cancelled: %v %v", all, err)
		}
	})
}
