package sites_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/app/apptest"
	"linkwatch/handlers"
	"linkwatch/handlers/middleware"
	"linkwatch/handlers/pages"
	handled "linkwatch/handlers/sites"
	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/sites"
	views "linkwatch/views/sites"
)

// injected runs as a script if it is not escaped.
const injected = `<script>alert(1)</script>"><img src=x onerror=alert(2)>`

// queue is an app with the website example.com and fake other systems.
type queue struct {
	*apptest.App
	Sites *sites.Store
	Other *queueSystems
	site  sites.Website
}

type queueSystems struct {
	kept  map[string]views.Related
	known map[string]sites.Evidence
	saved []string // URLs of the last call of Save or Watch
	calls int
}

func (e *queueSystems) record(urls []string) (handled.Outcome, error) {
	e.saved = urls
	return handled.Outcome{Added: len(urls)}, nil
}
func (e *queueSystems) Save(_ context.Context, urls []string, _ bool) (handled.Outcome, error) {
	return e.record(urls)
}
func (e *queueSystems) Watch(_ context.Context, urls []string, _ bool) (handled.Outcome, error) {
	return e.record(urls)
}
func (e *queueSystems) Related(context.Context, []string) (map[string]views.Related, error) {
	e.calls++
	return e.kept, nil
}
func (e *queueSystems) Evidence(context.Context, []string) (map[string]sites.Evidence, error) {
	e.calls++
	return e.known, nil
}
func (e *queueSystems) Crawl(context.Context, sites.Website, []string) (string, error) {
	return "", errors.New("no test crawls")
}

func newQueue(t *testing.T) *queue {
	t.Helper()
	a := apptest.New(t)
	store := sites.NewStore(a.DB, a.Clock.Now, sites.Options{
		Seal: func(plain []byte, of string) ([]byte, error) { return append([]byte(of), plain...), nil },
		Open: func(sealed []byte, of string) ([]byte, error) { return bytes.TrimPrefix(sealed, []byte(of)), nil },
	})
	other := &queueSystems{map[string]views.Related{}, map[string]sites.Evidence{}, nil, 0}
	errs := &middleware.Errors{Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	frame := pages.New(errs, "v1.2.3", "", a.Clock.Now)
	p := handled.Pages{Deps: &handled.Deps{Frame: frame, Sites: store, OtherSystems: other}}
	a.Handler = handlers.New(handlers.Deps{
		Systems: []handlers.System{{Nav: handled.Nav(), Routes: p.Routes(), Flash: p.Flashes()}},
		Frame:   frame, Health: middleware.NewHealth(errs, a.DB, "v1.2.3"), Log: errs.Log, Registry: prometheus.NewRegistry(),
	})
	q := &queue{App: a, Sites: store, Other: other}
	q.site = q.website("https://example.com/")
	return q
}

func (q *queue) website(address string) sites.Website {
	q.Helper()
	w, err := q.Sites.Add(q.Context(), sites.NewWebsite{SiteURL: address})
	q.Must(err)
	return w
}

// google adds credentials to the website and enables the Indexing API.
func (q *queue) google() {
	q.Helper()
	_, err := q.Sites.SetCredentials(q.Context(), q.site.ID, []byte("{}"), sites.Account{ClientEmail: "a@p.test", ProjectID: "p"})
	q.Must(err)
	q.site, err = q.Sites.Edit(q.Context(), q.site.ID, sites.Edit{IndexingEnabled: new(true)})
	q.Must(err)
}

// read stores pages through a sitemap. days is the age of lastmod (-1 = none).
func (q *queue) read(w sites.Website, days int, paths ...string) {
	q.Helper()
	ctx, root := q.Context(), strings.TrimSuffix(w.SiteURL, "/")
	m, _, err := q.Sites.AddSitemap(ctx, w.ID, root+fmt.Sprintf("/sitemap%d-%d.xml", len(paths), days))
	q.Must(err)
	var entries []sites.Entry
	for _, path := range paths {
		u, err := models.ParseURL("url", root+path)
		q.Must(err)
		e := sites.Entry{URL: u}
		if days >= 0 {
			e.Lastmod = q.Sites.Now().Add(-time.Duration(days) * models.Day)
		}
		entries = append(entries, e)
	}
	q.Must(q.Sites.BeginReading(ctx, m))
	_, err = q.Sites.StoreEntries(ctx, w, m, entries)
	q.Must(err)
	q.Must(q.Sites.RecordRead(ctx, m, sites.ReadResult{Stored: true, Kind: sites.KindSitemap, Pages: len(paths)}))
}

func (q *queue) page(path string) sites.Page {
	q.Helper()
	for _, f := range []sites.Filter{{Match: path}, {Match: path, Gone: true}} {
		list, err := q.Sites.Pages(q.Context(), q.site.ID, f, models.Cursor{}, 500)
		q.Must(err)
		for _, p := range list.Items {
			if p.Path() == path {
				return p
			}
		}
	}
	q.Fatalf("no page %s", path)
	return sites.Page{}
}

func (q *queue) verified(path string, cause string, i sites.Inspection) {
	q.Helper()
	q.Must(q.Sites.RecordVerification(q.Context(), sites.Verification{Page: q.page(path), Inspection: i, Cause: cause}))
}

func (q *queue) submitted(path string, a sites.Outcome) {
	q.Helper()
	p := q.page(path)
	s, err := q.Sites.BeginSubmission(q.Context(), q.site, sites.Submission{PageSeq: &p.Seq, URL: p.URL, Method: sites.ByIndexingAPI, Action: sites.Updated, Pages: 1})
	q.Must(err)
	q.Must(q.Sites.RecordOutcome(q.Context(), s, []int64{p.Seq}, a))
}

func (q *queue) set(path, columns string, args ...any) {
	q.Helper()
	modelstest.Exec(q.TB, q.DB, "UPDATE pages SET "+columns+" WHERE seq = ?", append(args, q.page(path).Seq)...)
}

func (q *queue) at(path string) string { return "/sites/" + q.site.ID + path }

// of returns the path of a page, or below it.
func (q *queue) of(path, action string) string { return q.at("/pages/" + q.page(path).ID() + action) }

// partly posts a form as htmx does.
func (q *queue) partly(path string, form url.Values) apptest.Page {
	q.Helper()
	r := httptest.NewRequestWithContext(q.Context(), "POST", path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("HX-Request", "true")
	return q.Browse(r)
}

// press returns the request that a browser sends when a button is pressed.
func (q *queue) press(p apptest.Page, form, name, value string) (path string, v url.Values) {
	q.Helper()
	f := p.Find(form)
	if f.Length() != 1 {
		q.Fatalf("%d forms match %s", f.Length(), form)
	}
	v = url.Values{}
	f.Find("input[name]").Each(func(_ int, in *goquery.Selection) { v.Add(in.AttrOr("name", ""), in.AttrOr("value", "")) })
	if name != "" {
		if f.Find(fmt.Sprintf("button[name=%s][value=%q]", name, value)).Length() != 1 {
			q.Fatalf("%s has no button %s=%s", form, name, value)
		}
		v.Set(name, value)
	}
	return f.AttrOr("action", ""), v
}

func shownPaths(p apptest.Page) string {
	return strings.TrimSpace(apptest.Text(p, "tbody td.page .title"))
}
