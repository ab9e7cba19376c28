package crawl_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	crawljobs "linkwatch/jobs/crawl"
	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// A crawl fetches the pages of a site within its depth, each once and one at a time. It
// stores pages and links.
func TestCrawl(t *testing.T) {
	each(t, func(w *world) {
		s := newSite(w.T, map[string]http.HandlerFunc{
			"/":  html("Home", "/a", "/a#top", "a", "/b", "http://other.example/x", "mailto:x@y.example"),
			"/a": html("A", "/", "/c", "/missing"),
			"/b": html("B", "/c"),
			"/c": html("C", "/d"),
			"/d": html("D", "/e"),
		})
		j := w.job(s.URL + "/")
		w.start()
		e := w.ended(j)
		if e.Status != crawl.ExecutionCompleted || e.ItemsCrawled != 6 || e.ItemsIndexed != 5 || e.Failed != 1 || e.Queued != 0 {
			t.Errorf("got %+v", e)
		}
		got := fmt.Sprint(w.entries(s.URL))
		if want := "map[/:done  /a:done  /b:done  /c:done  /d:done  /missing:failed status 404]"; got != want {
			t.Errorf("got frontier %s\nwant %s", got, want)
		}
		for _, path := range []string{"/", "/a", "/b", "/c", "/d", "/robots.txt"} {
			if n := s.count(path); n != 1 {
				t.Errorf("%s: got %d requests", path, n)
			}
		}
		if s.together != 1 {
			t.Errorf("got %d concurrent requests, want 1", s.together)
		}
		links, err := w.store.DiscoveredLinks(w.Context(), crawl.DiscoveredFilter{}, models.Cursor{}, 10)
		if err != nil || len(links.Items) != 1 || links.Items[0].URL != "http://other.example/x" || links.Items[0].FoundOn != s.URL+"/" {
			t.Errorf("got discovered links %+v, %v", links.Items, err)
		}
		src, err := w.store.Sources(w.Context(), "", models.Cursor{}, 10)
		if err != nil {
			t.Fatal(err)
		}
		p, ok, err := w.store.StoredPage(w.Context(), src.Items[0].Seq, s.URL+"/")
		if err != nil || !ok || p.Title != "Home" || p.StatusCode != 200 || p.Language != "en" || p.LinksFound != 3 || len(p.ContentHash) != 64 {
			t.Errorf("got page %+v, %v, %v", p, ok, err)
		}
	})
}

// A failed start page fails the execution, and the job is retried.
func TestStartPage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		page   http.HandlerFunc
		robots string
		want   string
	}{
		"status":     {page: http.NotFound, want: "start page: status 404"},
		"robots":     {page: html("Home"), robots: "User-agent: *\nDisallow: /", want: "start page: disallowed by robots.txt"},
		"no content": {page: func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }, want: "start page: connection closed early"},
		"redirects":  {page: func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path+"x", http.StatusFound) }, want: "start page: too_many_redirects"},
		"outside": {page: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://other.example/", http.StatusFound)
		}, want: "start page: redirects out of the allowed domains"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, modelstest.New(t))
			s := newSite(t, map[string]http.HandlerFunc{"": c.page, "/robots.txt": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, c.robots) }})
			retries := 1
			j := w.job(s.URL+"/start", func(n *crawl.NewJob) { n.MaxRetries = &retries })
			w.start()
			e := w.ended(j)
			if e.Status != crawl.ExecutionFailed || e.ErrorMessage != c.want || e.RetryAttempt != 0 {
				t.Errorf("got %s: %q", e.Status, e.ErrorMessage)
			}
			j, err := w.store.Job(t.Context(), j.ID)
			if err != nil || j.Status != crawl.Pending || j.CurrentRetryCount != 1 || !j.NextRunAt.After(w.store.Now().Add(50*time.Second).Time) {
				t.Errorf("got job %+v, %v", j, err)
			}
		})
	}
}

// A redirect rewrites its entry to the final URL, which is fetched once.
func TestRedirects(t *testing.T) {
	t.Parallel()
	w := newWorld(t, modelstest.New(t))
	to := func(path string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, path, http.StatusMovedPermanently) }
	}
	s := newSite(t, map[string]http.HandlerFunc{
		"/": html("Home", "/old", "/new", "/loop", "/far"), "/old": to("/new"), "/new": html("New"), "/loop": to("/loop"), "/far": to("/farther"),
		"/farther": to("/farthest"), "/farthest": html("Far"),
	})
	j := w.job(s.URL + "/")
	w.start()
	e := w.ended(j)
	got := fmt.Sprint(w.entries(s.URL))
	want := "map[/:done  /farthest:done  /loop:failed " + crawl.ReasonRedirects + " /new:done  /old:done " + crawl.ReasonDuplicate + "]"
	if got != want || e.ItemsCrawled != 3 || s.count("/new") != 1 {
		t.Errorf("got frontier %s\nwant %s\n%d pages", got, want, e.ItemsCrawled)
	}
}

// cookieRequired redirects to itself until the cookie comes back. It sets it here or, with by, at another URL.
func cookieRequired(status int, by string, page http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if _, err := r.Cookie("sid"); err == nil {
			page(w, r)
			return
		}
		to := by
		if by == "" {
			to = r.URL.Path
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: "1", Path: "/"})
		}
		http.Redirect(w, r, to, status)
	}
}

// setsCookie sets the cookie and redirects.
func setsCookie(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: "1", Path: "/"})
		http.Redirect(w, r, to, http.StatusFound)
	}
}

// A page that redirects to itself until a cookie comes back is crawled, also as a start page, and also if another URL sets the
// cookie. Each page gets only the cookies of its own redirects.
func TestCookiesOfRedirects(t *testing.T) {
	each(t, func(w *world) {
		s := newSite(t, map[string]http.HandlerFunc{
			"/":   cookieRequired(http.StatusFound, "", html("Home", "/in", "/by", "/no", "/odd", "/plain")),
			"/in": cookieRequired(http.StatusMovedPermanently, "", html("In", "/leaf")), "/leaf": html("Leaf"),
			"/by": cookieRequired(http.StatusFound, "/set", html("By")), "/set": setsCookie("/by"),
			"/no": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/no", http.StatusFound) },
			"/odd": func(w http.ResponseWriter, r *http.Request) { // the cookie is neither valid nor UTF-8
				if r.Header.Get("Cookie") == "a[b]={\"c\": \"\xe9\"}" {
					html("Odd")(w, r)
					return
				}
				w.Header().Set("Set-Cookie", "a[b]={\"c\": \"\xe9\"}; path=/")
				http.Redirect(w, r, "/odd", http.StatusFound)
			},
			"/plain": func(w http.ResponseWriter, r *http.Request) {
				if len(r.Cookies()) > 0 {
					http.Error(w, "a cookie of another page", http.StatusBadRequest)
					return
				}
				html("Plain")(w, r)
			},
		})
		j := w.job(s.URL + "/")
		w.start()
		e := w.ended(j)
		got := fmt.Sprint(w.entries(s.URL))
		want := "map[/:done  /by:done  /in:done  /leaf:done  /no:failed " + crawl.ReasonRedirects + " /odd:done  /plain:done ]"
		if got != want || e.ItemsCrawled != 6 || e.PagesGone != 0 || s.count("/in") != 2 {
			t.Errorf("got frontier %s\nwant %s\n%d pages, %d gone, %d requests", got, want, e.ItemsCrawled, e.PagesGone, s.count("/in"))
		}
	})
}

// Only a permanent redirect means that a page is gone. The links of a page with a temporary
// redirect are still followed.
func TestTemporaryAndPermanentRedirects(t *testing.T) {
	each(t, func(w *world) {
		pages := map[string]http.HandlerFunc{"/login": html("Log in")}
		var links []string
		for _, status := range []int{301, 302, 303, 307, 308} {
			hub, leaf := fmt.Sprint("/", status), fmt.Sprint("/only-on-", status)
			links = append(links, hub)
			first := html("Hub", leaf)
			var asked atomic.Bool
			pages[leaf] = html("Leaf")
			pages[hub] = func(w http.ResponseWriter, r *http.Request) {
				if asked.Swap(true) {
					http.Redirect(w, r, "/login", status)
					return
				}
				first(w, r)
			}
		}
		pages["/"] = html("Home", links...)
		s := newSite(w.T, pages)
		j := w.job(s.URL+"/", func(n *crawl.NewJob) { n.Interval = crawl.Interval{Count: 1, Type: crawl.Days} })
		w.start()
		for run := 1; run <= 2; run++ {
			if _, err := w.store.Act(w.Context(), j.ID, crawl.ForceRun); err != nil {
				w.Fatal(err)
			}
			modelstest.Eventually(w.T, "the run ends", func() bool {
				j, _ = w.store.Job(w.Context(), j.ID)
				return j.Executions == run && j.Status == crawl.Scheduled
			})
		}
		for {
			r, err := w.store.NextReport(w.Context())
			if err != nil || r == nil {
				break
			}
			for done := false; !done && err == nil; {
				done, err = r.Next(w.Context())
			}
		}
		list, err := w.store.PageChanges(w.Context(), w.ended(j), crawl.PageGone, models.Cursor{}, 50)
		if err != nil {
			w.Fatal(err)
		}
		var gone []string
		for _, c := range list.Items {
			gone = append(gone, strings.TrimPrefix(c.URL, s.URL))
		}
		slices.Sort(gone)
		if want := []string{"/301", "/308", "/only-on-301", "/only-on-308"}; !slices.Equal(gone, want) {
			w.Errorf("gone: %v, want %v", gone, want)
		}
	})
}

// With FETCHER_FOLLOW_REDIRECTS=false the redirect is stored as the page.
func TestRedirectsThatAreNotFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, modelstest.New(t))
	s := newSite(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/new", http.StatusFound) }})
	j := w.job(s.URL + "/")
	w.start(func(o *crawljobs.Options) { o.FollowRedirects = false })
	if e := w.ended(j); e.Status != crawl.ExecutionCompleted || e.ItemsCrawled != 1 || s.count("/new") != 0 {
		t.Errorf("got %+v", e)
	}
}

// Pages with noindex or nofollow, and URLs that robots.txt disallows, are skipped.
func TestRobots(t *testing.T) {
	t.Parallel()
	w := newWorld(t, modelstest.New(t))
	head := func(meta string, links ...string) http.HandlerFunc {
		page := html("Page", links...)
		return func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "<!doctype html><html><head>%s</head>", meta)
			page(w, r)
		}
	}
	s := newSite(t, map[string]http.HandlerFunc{
		"/robots.txt": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "User-agent: linkwatch\nDisallow: /private\nAllow: /private/open\n\nUser-agent: *\nDisallow: /")
		},
		"/":             html("Home", "/private", "/private/open", "/nofollow", "/noindex", "/copy"),
		"/private/open": html("Open"),
		"/nofollow":     head(`<meta name=robots content=nofollow>`, "/hidden"),
		"/noindex":      head(`<meta name=robots content=noindex>`, "/shown"),
		"/shown":        html("Shown"),
		"/copy":         head(`<link rel=canonical href="/original">`),
		"/original":     html("Original"),
	})
	j := w.job(s.URL + "/")
	w.start()
	e := w.ended(j)
	got := fmt.Sprint(w.entries(s.URL))
	want := "map[/:done  /copy:done canonical is another URL /nofollow:done  /noindex:done  /original:done  /private:failed disallowed by robots.txt /private/open:done  /shown:done ]"
	if got != want || s.count("/private") != 0 || e.ItemsCrawled != 7 || e.ItemsIndexed != 6 {
		t.Errorf("got frontier %s\nwant %s\n%d pages, %d indexed", got, want, e.ItemsCrawled, e.ItemsIndexed)
	}
}

// An unchanged page is not downloaded again, and its links are still followed.
func TestUnchangedPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, modelstest.New(t))
	var sent atomic.Int32
	tagged := func(page http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `"1"`)
			if r.Header.Get("If-None-Match") == `"1"` {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			sent.Add(1)
			page(w, r)
		}
	}
	s := newSite(t, map[string]http.HandlerFunc{"/": tagged(html("Home", "/a")), "/a": tagged(html("A", "/b")), "/b": tagged(html("B"))})
	every := func(n *crawl.NewJob) { n.Interval = crawl.Interval{Count: 1, Type: crawl.Days} }
	j := w.job(s.URL+"/", every)
	w.start()
	for run := 1; run <= 2; run++ {
		if _, err := w.store.Act(t.Context(), j.ID, crawl.ForceRun); err != nil {
			t.Fatal(err)
		}
		modelstest.Eventually(t, "the run ends", func() bool {
			j, _ = w.store.Job(t.Context(), j.ID)
			return j.Executions == run && j.Status == crawl.Scheduled
		})
		e := w.ended(j)
		if e.Status != crawl.ExecutionCompleted || e.ItemsCrawled != 3 || e.ItemsIndexed != 3 || e.StartHash == "" {
			t.Errorf("run %d: got %+v", run, e)
		}
	}
	if n := sent.Load(); n != 3 {
		t.Errorf("got %d pages sent", n)
	}
	if j.UnchangedCount != 1 || j.EffectiveInterval() != 24*time.Hour {
		t.Errorf("got %d times unchanged, interval %v", j.UnchangedCount, j.EffectiveInterval())
	}
}

// Hostile and broken content fails or is stored as text.
func TestHostileContent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, modelstest.New(t))
	var many strings.Builder
	for i := range 300 {
		fmt.Fprintf(&many, "<a href=/n/%d>x</a>", i)
	}
	s := newSite(t, map[string]http.HandlerFunc{
		"/": html("Home", "/binary.html", "/endless", "/charset", "/slow", "/many", "/empty", "/json", "/deep/deep/deep/deep"),
		"/binary.html": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("\x89PNG\r\n\x1a\n" + strings.Repeat("\x00\x01", 4000)))
		},
		"/endless": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write([]byte(strings.Repeat("<p>more and more ", 1000))); err != nil {
					return
				}
			}
		},
		"/charset": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("<html><head><title>Caf\xe9</title><meta charset=utf-8><body>\xff\xfe\xc3\xa9\x00 text"))
		},
		"/slow":  func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"/many":  func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html><body>", many.String()) },
		"/empty": func(http.ResponseWriter, *http.Request) {},
		"/json": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"a": "<a href=/never>"}`)
		},
	})
	one := 2
	j := w.job(s.URL+"/", func(n *crawl.NewJob) { n.Source.MaxDepth = one })
	w.start(func(o *crawljobs.Options) { o.Client = w.client(1500 * time.Millisecond) }) // /slow is tried three times
	e := w.ended(j)
	if e.Status != crawl.ExecutionCompleted || e.Queued != 0 || e.Fetched+e.Failed != 309 {
		t.Errorf("got %+v", e)
	}
	got := w.entries(s.URL)
	for path, want := range map[string]string{
		"/binary.html": "done ", "/endless": "done ", "/charset": "done ", "/slow": "failed timed out", "/many": "done ", "/json": "done ",
		"/deep/deep/deep/deep": "failed URL repeats a path segment",
	} {
		if got[path] != want {
			t.Errorf("%s: got %q, want %q", path, got[path], want)
		}
	}
	if s.count("/never") != 0 {
		t.Error("a link in JSON was followed")
	}
}
