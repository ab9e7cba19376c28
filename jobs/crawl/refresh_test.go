package crawl_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	crawljobs "linkwatch/jobs/crawl"
	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// head serves a page with markup in its head, and links.
func head(markup string, links ...string) http.HandlerFunc {
	page := html("Page", links...)
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<!doctype html><html><head>%s</head>", markup)
		page(w, r)
	}
}

func refreshTo(value string) http.HandlerFunc {
	return head(`<meta http-equiv="refresh" content="` + value + `">`)
}

// pages returns the sorted URLs of the stored pages without base, with their titles.
func (w *world) pages(base string) (all []string) {
	w.Helper()
	list, err := w.store.Pages(w.Context(), crawl.PageFilter{}, models.Cursor{}, 500)
	if err != nil {
		w.Fatal(err)
	}
	for _, p := range list.Items {
		all = append(all, p.URL[min(len(base), len(p.URL)):]+" "+p.Title)
	}
	slices.Sort(all)
	return all
}

// A page that a browser leaves within ten seconds is a redirect, also if it is the start page.
func TestRefresh(t *testing.T) {
	each(t, func(w *world) {
		s := newSite(w.T, map[string]http.HandlerFunc{
			"/":     refreshTo("0; url=/home"),
			"/home": html("Home", "/old", "/header", "/loop", "/out", "/self", "/reload", "/slow", "/mail", "/error", "/private", "/nofollow"),
			"/old":  refreshTo("5; url=/new"),
			"/new":  html("New", "/home"),
			"/header": func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Refresh", "0; url=/from-header")
				fmt.Fprint(w, "words")
			},
			"/from-header": html("From header"),
			"/loop":        refreshTo("0; url=/pool"),
			"/pool":        refreshTo("0; url=/loop"),
			"/out":         refreshTo("0; url=http://other.example/x"),
			"/self":        refreshTo("0; url=/self#top"),
			"/reload":      refreshTo("5"),
			"/slow":        refreshTo("11; url=/never"),
			"/mail":        refreshTo("0; url=mailto:a@b.example"),
			"/error": func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(http.StatusNotFound)
				refreshTo("0; url=/never")(w, r)
			},
			"/private":    refreshTo("0; url=/robots/never"),
			"/nofollow":   head(`<meta name=robots content="nofollow, noindex"><meta http-equiv=refresh content="0; url=/followed">`),
			"/followed":   html("Followed"),
			"/robots.txt": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "User-agent: *\nDisallow: /robots/") },
		})
		j := w.job(s.URL + "/")
		w.start()
		e := w.ended(j)
		got := fmt.Sprint(w.entries(s.URL))
		want := "map[/error:failed status 404 /followed:done  /from-header:done  /home:done  /mail:done  /new:done  /out:failed " + crawl.ReasonOutside + " /pool:failed " + crawl.ReasonRedirects +
			" /reload:done  /robots/never:failed " + crawl.ReasonRobots + " /self:done  /slow:done ]"
		if e.Status != crawl.ExecutionCompleted || got != want {
			w.Errorf("%s: got frontier %s\nwant %s", e.Status, got, want)
		}
		got = fmt.Sprint(w.pages(s.URL))
		if want = "[/error  /followed Followed /from-header From header /home Home /mail Page /new New /reload Page /self Page /slow Page]"; got != want {
			w.Errorf("got pages %s\nwant %s", got, want)
		}
		if e.StartHash == "" || s.count("/never") != 0 {
			w.Errorf("got start hash %q, %d requests", e.StartHash, s.count("/never"))
		}
		links, err := w.store.DiscoveredLinks(w.Context(), crawl.DiscoveredFilter{}, models.Cursor{}, 10)
		if err != nil || len(links.Items) != 1 || links.Items[0].URL != "http://other.example/x" {
			w.Errorf("got discovered links %+v, %v", links.Items, err)
		}
	})
}

// Pages that a browser shows for some seconds may go in a circle, or to a new URL each time. They are pages, not loops.
func TestSlideshow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, modelstest.New(t))
	s := newSite(t, map[string]http.HandlerFunc{
		"/": html("Home", "/a", "/b", "/live"), "/a": refreshTo("5; url=/b"), "/b": refreshTo("5; url=/a"),
		"/live": func(w http.ResponseWriter, r *http.Request) {
			refreshTo("3; url=/live?n="+r.URL.Query().Get("n")+"1")(w, r)
		},
	})
	j := w.job(s.URL + "/")
	w.start()
	e := w.ended(j)
	got, want := fmt.Sprint(w.entries(s.URL)), "map[/:done  /a:done  /b:done  /live?n=11111:done ]"
	if e.Status != crawl.ExecutionCompleted || got != want || e.ItemsCrawled != 4 {
		t.Errorf("%s: got frontier %s\nwant %s\n%d pages", e.Status, got, want, e.ItemsCrawled)
	}
}

// With FETCHER_FOLLOW_REDIRECTS=false, a page with a refresh is stored.
func TestRefreshThatIsNotFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, modelstest.New(t))
	s := newSite(t, map[string]http.HandlerFunc{"/": refreshTo("0; url=/home"), "/home": html("Home")})
	j := w.job(s.URL + "/")
	w.start(func(o *crawljobs.Options) { o.FollowRedirects = false })
	if e := w.ended(j); e.Status != crawl.ExecutionCompleted || e.ItemsCrawled != 1 || s.count("/home") != 0 {
		t.Errorf("got %+v", e)
	}
}
