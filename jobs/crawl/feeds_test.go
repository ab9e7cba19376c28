package crawl_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"linkwatch/jobs"
	crawljobs "linkwatch/jobs/crawl"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
	"linkwatch/outbound"
)

// poller returns the job that polls feeds. Its crawler is not started.
func (w *world) poller(change ...func(*crawljobs.Options)) (jobs.Job, *prometheus.Registry) {
	w.Helper()
	registry := prometheus.NewRegistry()
	i := w.instance(append(change, func(o *crawljobs.Options) { o.FeedPolling, o.Registry = true, registry })...)
	i.heartbeat.Start()
	w.Cleanup(func() { i.heartbeat.Stop(context.Background()) })
	modelstest.Eventually(w.T, "the lease begins", func() bool { _, _, ok := i.lease.Current(); return ok })
	return i.Feeds(), registry
}

// run runs the job once and returns its message.
func (w *world) run(j jobs.Job) string {
	w.Helper()
	did, err := j.Run(w.Context(), w.Context())
	if err != nil {
		w.Fatal(err)
	}
	return did
}

// feed adds a feed of a source without pauses between requests.
func (w *world) feed(url string) crawl.Feed {
	w.Helper()
	f, _, err := w.store.AddFeed(w.Context(), url, "")
	if err == nil {
		_, err = w.store.EditSource(w.Context(), f.SourceID, crawl.SourceEdit{RateLimitMS: new(0)})
	}
	if err != nil {
		w.Fatal(err)
	}
	return f
}

// again reloads a feed and makes it due.
func (w *world) again(f crawl.Feed) crawl.Feed {
	w.Helper()
	f, err := w.store.Feed(w.Context(), f.ID())
	if err == nil {
		err = w.store.PollFeed(w.Context(), f.ID())
	}
	if err != nil {
		w.Fatal(err)
	}
	return f
}

// text responds with a body of a content type.
func text(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		fmt.Fprint(w, body)
	}
}

func TestFeedsOfEachFormatAreRead(t *testing.T) {
	each(t, func(w *world) {
		s := newSite(w.T, map[string]http.HandlerFunc{
			"/rss":  text("application/rss+xml", `<rss><channel><title>RSS</title><item><link>/a</link></item><item><link>https://other.example/</link></item></channel></rss>`),
			"/atom": text("application/atom+xml; charset=iso-8859-1", "<?xml version=\"1.0\" encoding=\"iso-8859-1\"?><feed xmlns=\"http://www.w3.org/2005/Atom\"><title>B\xfccher</title><entry><link href=\"/b\"/></entry><entry><link href=\"/a\"/></entry></feed>"),
			"/json": text("application/feed+json", `{"version": "https://jsonfeed.org/version/1.1", "title": "JSON", "items": [{"id": "1", "url": "/c"}]}`),
		})
		rss, atom, js := w.feed(s.URL+"/rss"), w.feed(s.URL+"/atom"), w.feed(s.URL+"/json")
		job, registry := w.poller()
		if did := w.run(job); did != "3 polled: 3 read; 3 new entries" {
			w.Error(did)
		}
		if a, b, c := w.again(rss), w.again(atom), w.again(js); a.Title != "RSS" || b.Title != "Bücher" || c.Title != "JSON" || a.LastError != "" || a.LastPolledAt.IsZero() {
			w.Errorf("%+v %+v %+v", a, b, c)
		}
		if got := w.entries(s.URL); fmt.Sprint(got) != "map[/a:pending  /b:pending  /c:pending ]" {
			w.Errorf("the frontier has %v", got)
		}
		if s.together != 1 {
			w.Errorf("%d requests at a time", s.together)
		}
		if did := w.run(job); did != "3 polled: 3 read; 0 new entries" {
			w.Error(did)
		}
		want := strings.NewReader("# HELP linkwatch_crawl_feed_entries_total Total number of new feed entries added to the frontier.\n# TYPE linkwatch_crawl_feed_entries_total counter\nlinkwatch_crawl_feed_entries_total 3\n" +
			"# HELP linkwatch_crawl_feed_polls_total Total number of feed polls, by outcome.\n# TYPE linkwatch_crawl_feed_polls_total counter\nlinkwatch_crawl_feed_polls_total{outcome=\"read\"} 6\n")
		if err := testutil.GatherAndCompare(registry, want, "linkwatch_crawl_feed_polls_total", "linkwatch_crawl_feed_entries_total"); err != nil {
			w.Error(err)
		}
	})
}

func TestUnchangedFeedsAreNotParsedAgain(t *testing.T) {
	each(t, func(w *world) {
		var conditional atomic.Int32
		s := newSite(w.T, map[string]http.HandlerFunc{"/feed": func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("ETag", `"1"`)
			if r.Header.Get("If-None-Match") == `"1"` && r.Header.Get("If-Modified-Since") == "Mon, 02 Jan 2006 15:04:05 GMT" {
				conditional.Add(1)
				rw.WriteHeader(http.StatusNotModified)
				return
			}
			rw.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
			text("application/rss+xml", "<rss><channel><item><link>/a</link></item></channel></rss>")(rw, r)
		}})
		f := w.feed(s.URL + "/feed")
		job, _ := w.poller()
		w.run(job)
		before := w.again(f)
		if did := w.run(job); did != "1 polled: 1 unchanged; 0 new entries" || conditional.Load() != 1 {
			w.Error(did)
		}
		if after := w.again(f); !after.LastPolledAt.After(before.LastPolledAt.Time) || after.EntriesFound != 1 {
			w.Errorf("%+v", after)
		}
	})
}

func TestRedirectsOfFeeds(t *testing.T) {
	t.Parallel()
	to := func(status int, path string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, path, status) }
	}
	w := newWorld(t, modelstest.New(t))
	good := text("application/rss+xml", "<rss><channel><title>T</title></channel></rss>")
	other := newSite(t, map[string]http.HandlerFunc{"/new": good})
	s := newSite(t, map[string]http.HandlerFunc{
		"/permanent": to(301, "/p2"), "/p2": to(308, other.URL+"/new"), "/temporary": to(302, "/ok"), "/ok": good,
		"/mixed": to(301, "/temporary"), "/loop": to(301, "/loop2"), "/loop2": to(301, "/loop"), "/nowhere": to(301, "javascript:alert(1)"),
		"/refused": to(302, "/private/feed"), "/private/feed": good, "/robots.txt": text("text/plain", "User-agent: *\nDisallow: /private"),
	})
	job, _ := w.poller()
	for path, want := range map[string][2]string{
		"/permanent": {other.URL + "/new", ""}, "/temporary": {s.URL + "/temporary", ""}, "/mixed": {s.URL + "/mixed", ""},
		"/loop": {s.URL + "/loop", crawl.ReasonRedirects}, "/nowhere": {s.URL + "/nowhere", "status 301 without a valid Location"}, "/refused": {s.URL + "/refused", "disallowed by robots.txt"},
	} {
		f := w.feed(s.URL + path)
		w.run(job)
		if f, err := w.store.Feed(t.Context(), f.ID()); err != nil || f.URL != want[0] || f.LastError != want[1] {
			t.Errorf("%s: got %s, %q, %v", path, f.URL, f.LastError, err)
		}
	}
	if n := s.count("/loop") + s.count("/loop2"); n != 6 {
		t.Errorf("redirect loop: got %d requests", n)
	}
	if s.count("/private/feed") != 0 {
		t.Error("followed a redirect to a URL that robots.txt disallows")
	}
}

// A feed may redirect to itself until a cookie comes back.
func TestCookiesOfFeeds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, modelstest.New(t))
	good := text("application/rss+xml", "<rss><channel><title>T</title></channel></rss>")
	s := newSite(t, map[string]http.HandlerFunc{
		"/feed": cookieRequired(http.StatusMovedPermanently, "", good),
		"/by":   cookieRequired(http.StatusFound, "/set", good), "/set": setsCookie("/by"),
	})
	job, _ := w.poller()
	for _, path := range []string{"/feed", "/by"} {
		f := w.feed(s.URL + path)
		w.run(job)
		if f, err := w.store.Feed(t.Context(), f.ID()); err != nil || f.URL != s.URL+path || f.LastError != "" || f.Title != "T" {
			t.Errorf("%s: got %+v, %v", path, f, err)
		}
	}
}

func TestHostileFeedsFail(t *testing.T) {
	t.Parallel()
	w := newWorld(t, modelstest.New(t))
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	fmt.Fprint(z, "<rss><channel>")
	for range 64 {
		fmt.Fprint(z, strings.Repeat(" ", 1<<20))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, map[string]http.HandlerFunc{
		"/bomb": func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "application/rss+xml")
			rw.Header().Set("Content-Encoding", "gzip")
			_, _ = rw.Write(bomb.Bytes())
		},
		"/broken": text("application/rss+xml", "<rss><channel><item></channel"), "/html": html("Page"), "/nested": text("text/xml", "<rss>"+strings.Repeat("<a>", 5000)),
		"/early": func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Length", "500")
			text("application/rss+xml", "<rss><channel><item><link>/a</link></item>")(rw, nil)
		},
		"/error":   func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusInternalServerError) },
		"/gone":    func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusGone) },
		"/entries": text("application/rss+xml", "<rss><channel>"+strings.Repeat("<item><link>javascript:alert(1)</link></item>", 40_000)+"</channel></rss>"),
	})
	job, _ := w.poller()
	for path, want := range map[string]string{
		"/bomb": "", "/broken": "the feed ends before its first entry is complete", "/early": "connection closed early", "/html": "not an RSS, Atom or JSON feed",
		"/nested": "the feed is nested too deeply, or has a tag that is too long", "/error": "status 500", "/missing": "status 404", "/gone": "status 410", "/entries": "",
	} {
		f := w.feed(s.URL + path)
		w.run(job)
		if f, err := w.store.Feed(t.Context(), f.ID()); err != nil || f.LastError != want || f.NextPollAt.IsZero() != (path == "/gone") {
			t.Errorf("%s: got %+v, %v", path, f, err)
		}
	}
	if n := len(w.entries(s.URL)); n != 0 {
		t.Errorf("got %d entries in the frontier, want 0", n)
	}
}

// Of a long feed, the first 15 MiB and 500 entries are read. The feed says so until it has been read to its end.
func TestLongFeedsAreReadInPart(t *testing.T) {
	each(t, func(w *world) {
		items := func(n, size int) string {
			var b strings.Builder
			for i := range n {
				fmt.Fprintf(&b, "<item><link>/%d</link><description>%s</description></item>", i, strings.Repeat("ü", size/2))
			}
			return "<rss><channel><title>Bücher</title>" + b.String() + "</channel></rss>"
		}
		latin1, err := charmap.ISO8859_1.NewEncoder().String(items(18, 1<<20))
		if err != nil {
			w.Fatal(err)
		}
		utf16, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(items(18, 1<<20))
		if err != nil {
			w.Fatal(err)
		}
		short := items(400, 6_000)
		var now atomic.Pointer[string]
		now.Store(&short)
		s := newSite(w.T, map[string]http.HandlerFunc{
			"/short":  func(rw http.ResponseWriter, r *http.Request) { text("text/xml", *now.Load())(rw, r) },
			"/many":   text("application/rss+xml", items(600, 0)),
			"/long":   text("application/rss+xml", items(18, 1<<20)),
			"/latin1": text("application/rss+xml; charset=iso-8859-1", latin1),
			"/utf16":  text("application/rss+xml", utf16),
			"/json":   text("application/feed+json", `{"title": "Bücher", "items": [{"url": "/json"}, {"content_text": "`+strings.Repeat("x", 16<<20)+`"}]}`),
			"/kept": func(rw http.ResponseWriter, r *http.Request) {
				if rw.Header().Set("ETag", `"1"`); r.Header.Get("If-None-Match") != "" {
					rw.WriteHeader(http.StatusNotModified)
					return
				}
				text("text/xml", items(600, 0))(rw, r)
			},
		})
		job, _ := w.poller()
		feeds := map[string]crawl.Feed{}
		poll := func(path string) crawl.Feed {
			w.again(feeds[path])
			w.run(job)
			f, err := w.store.Feed(w.Context(), feeds[path].ID())
			if err != nil {
				w.Fatal(err)
			}
			return f
		}
		for path, want := range map[string]struct {
			entries   int
			truncated bool
		}{"/short": {400, false}, "/many": {500, true}, "/long": {14, true}, "/latin1": {14, true}, "/utf16": {14, true}, "/json": {1, true}, "/kept": {500, true}} {
			feeds[path] = w.feed(s.URL + path)
			f, found := poll(path), 0
			if err := w.db.Read(w.Context()).Raw("SELECT count(*) FROM feed_entries WHERE feed_seq = ?", f.Seq).Scan(&found).Error; err != nil {
				w.Fatal(err)
			}
			if found != want.entries || f.Truncated != want.truncated || f.LastError != "" || f.Failures != 0 || f.Title != "Bücher" {
				w.Errorf("%s: got %d entries, %+v", path, found, f)
			}
		}
		now.Store(new(items(501, 0)))
		if !poll("/short").Truncated || !poll("/kept").Truncated {
			w.Error("a feed that was not read to its end does not say so")
		}
		now.Store(&short)
		if poll("/short").Truncated {
			w.Error("a feed that was read to its end says that it was not")
		}
	})
}

// A rate limited feed waits, and a feed on a private address gets no request.
func TestRateLimitedAndPrivateFeedsGetNoRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, modelstest.New(t))
	s := newSite(t, map[string]http.HandlerFunc{"/busy": func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Retry-After", "1800")
		rw.WriteHeader(http.StatusServiceUnavailable)
	}})
	f := w.feed(s.URL + "/busy")
	job, _ := w.poller()
	w.run(job)
	polled := w.again(f)
	if wait := polled.NextPollAt.Sub(polled.LastPolledAt.Time); polled.LastError != "status 503" || wait < 30*time.Minute {
		t.Errorf("got %+v", polled)
	}
	if did := w.run(job); did != "0 polled" || s.count("/busy") != 1 {
		t.Errorf("got %s and %d requests", did, s.count("/busy"))
	}
	guarded := outbound.New(outbound.Options{MaxConcurrent: 1})
	t.Cleanup(guarded.Close)
	blocked, _ := w.poller(func(o *crawljobs.Options) { o.Client, o.Robots = guarded, nil })
	private := w.feed(strings.Replace(s.URL, "127.0.0.1", "127.0.0.2", 1) + "/feed")
	w.run(blocked)
	if f := w.again(private); f.LastError != "address not allowed" {
		t.Errorf("%+v", f)
	}
}

// A poll sends no requests to a host that a crawl has claimed.
func TestPollsAndCrawlsTakeTurns(t *testing.T) {
	each(t, func(w *world) {
		pages := map[string]http.HandlerFunc{"/feed": text("application/rss+xml", "<rss><channel><item><link>/new</link></item></channel></rss>")}
		var links []string
		for i := range 40 {
			links = append(links, fmt.Sprintf("/%d", i))
		}
		pages["/"], pages[""] = html("Start", links...), html("Page")
		s := newSite(w.T, pages)
		f := w.feed(s.URL + "/feed")
		i := w.start(func(o *crawljobs.Options) { o.FeedPolling = true })
		j := w.job(s.URL + "/")
		modelstest.Eventually(w.T, "the feed is polled", func() bool {
			if _, err := i.Feeds().Run(w.Context(), w.Context()); err != nil {
				w.Fatal(err)
			}
			return s.count("/feed") > 0
		})
		w.ended(j)
		modelstest.Eventually(w.T, "the entry is fetched", func() bool { return s.count("/new") == 1 })
		if s.together != 1 {
			w.Errorf("%d requests at a time", s.together)
		}
		if f := w.again(f); f.EntriesFound != 1 {
			w.Errorf("%+v", f)
		}
	})
}

func TestPollingIsOffByDefault(t *testing.T) {
	t.Parallel()
	w := newWorld(t, modelstest.New(t))
	s := newSite(t, nil)
	w.feed(s.URL + "/feed")
	job := w.instance().Feeds()
	if did := w.run(job); job.ID != "feeds" || !strings.Contains(did, "CRAWLER_FEED_POLL_ENABLED") || s.count("/feed") != 0 {
		t.Error(did)
	}
}
