package sites_test

import (
	"bytes"
	"context"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"linkwatch/app/apptest"
	sitehandlers "linkwatch/handlers/sites"
	"linkwatch/models"
	"linkwatch/models/sites"
	views "linkwatch/views/sites"
)

const (
	// hostile runs as a script if it is not escaped.
	hostile = `<script>alert(1)</script>"><img src=x onerror=alert(2)>`
	// secretText is in all keys of the tests. No page may show it.
	secretText = "PRIVATE-KEY-TEXT"
)

// pagesApp is an app with fake search engines and other systems.
type pagesApp struct {
	*apptest.App
	Sites    *sites.Store
	Services *fakeServices
	Others   *fakeSystems
}

func newPagesApp(t *testing.T) *pagesApp {
	t.Helper()
	a := &pagesApp{App: apptest.New(t), Services: &fakeServices{}, Others: &fakeSystems{}}
	a.Sites = a.Systems.Sites.Store
	a.Systems.Sites.Deps.Services, a.Systems.Sites.Deps.OtherSystems = a.Services, a.Others
	return a
}

// fakeServices are search engines with results set by the test.
type fakeServices struct {
	accountErr error
	checks     []views.Check
	testErr    error
	keyProblem string
}

func (f *fakeServices) Account([]byte) (sites.Account, error) {
	return sites.Account{ClientEmail: "robot@project.example", ProjectID: "project-1"}, f.accountErr
}

func (f *fakeServices) Test(context.Context, sites.Website) ([]views.Check, error) {
	return f.checks, f.testErr
}

func (f *fakeServices) CheckKey(context.Context, sites.Website) (string, error) {
	return f.keyProblem, nil
}

func (f *fakeServices) NewKey() string { return "0123456789abcdef" }

// fakeSystems are other systems that record their calls.
type fakeSystems struct {
	saved, watched, crawled []string
	kept                    map[string]views.Related
	crawlErr                error
}

func (*fakeSystems) Evidence(context.Context, []string) (map[string]sites.Evidence, error) {
	return nil, nil
}
func (f *fakeSystems) Save(_ context.Context, urls []string, _ bool) (sitehandlers.Outcome, error) {
	f.saved = append(f.saved, urls...)
	return sitehandlers.Outcome{Added: len(urls)}, nil
}

func (f *fakeSystems) Watch(_ context.Context, urls []string, _ bool) (sitehandlers.Outcome, error) {
	f.watched = append(f.watched, urls...)
	return sitehandlers.Outcome{Added: len(urls)}, nil
}

func (f *fakeSystems) Related(context.Context, []string) (map[string]views.Related, error) {
	return f.kept, nil
}

func (f *fakeSystems) Crawl(_ context.Context, _ sites.Website, urls []string) (string, error) {
	f.crawled = urls
	return "/crawl/jobs/j_1", f.crawlErr
}

func (a *pagesApp) site(siteURL string) sites.Website {
	a.Helper()
	w, err := a.Sites.Add(a.Context(), sites.NewWebsite{SiteURL: siteURL})
	a.Must(err)
	return w
}

func (a *pagesApp) google(w sites.Website) sites.Website {
	a.Helper()
	w, err := a.Sites.SetCredentials(a.Context(), w.ID, []byte(secretText), sites.Account{ClientEmail: "robot@project.example", ProjectID: "project-1"})
	a.Must(err)
	return w
}

func (a *pagesApp) sitemap(w sites.Website, u string) sites.Sitemap {
	a.Helper()
	m, _, err := a.Sites.AddSitemap(a.Context(), w.ID, u)
	a.Must(err)
	return m
}

// read reads a sitemap with pages at the given paths, modified today, and finishes reading the website.
func (a *pagesApp) read(w sites.Website, paths ...string) sites.Sitemap {
	a.Helper()
	ctx := a.Context()
	m := a.sitemap(w, w.Property().Root()+"sitemap.xml")
	var entries []sites.Entry
	for _, p := range paths {
		u, err := models.ParseURL("url", w.Property().Root()+p)
		a.Must(err)
		entries = append(entries, sites.Entry{URL: u, Lastmod: a.Sites.Now()})
	}
	a.Must(a.Sites.BeginReading(ctx, m))
	_, err := a.Sites.StoreEntries(ctx, w, m, entries)
	a.Must(err)
	a.Must(a.Sites.RecordRead(ctx, m, sites.ReadResult{Stored: true, Kind: sites.KindSitemap, Pages: len(entries)}))
	a.ended(w)
	return m
}

// ended finishes reading the sitemaps of a website.
func (a *pagesApp) ended(w sites.Website) {
	a.Helper()
	_, _, err := a.Sites.Claim(a.Context(), a.Holder(), sites.Reading, w.Seq, true)
	a.Must(err)
	a.Must(a.Sites.FinishReading(a.Context(), w, ""))
	a.Must(a.Sites.Release(a.Context(), a.Holder(), sites.Reading, w, false))
}

func (a *pagesApp) page(w sites.Website, path string) sites.Page {
	a.Helper()
	list, err := a.Sites.Pages(a.Context(), w.ID, sites.Filter{}, models.Cursor{}, 100)
	a.Must(err)
	for _, p := range list.Items {
		if p.Path() == path {
			return p
		}
	}
	a.Fatalf("no page %s", path)
	return sites.Page{}
}

func (a *pagesApp) verified(p sites.Page, cause string) {
	a.Helper()
	i := sites.Inspection{Verdict: "PASS", CoverageState: "Submitted and indexed"}
	if cause != "" {
		i = sites.Inspection{Verdict: "NEUTRAL", CoverageState: "Crawled - currently not indexed"}
	}
	a.Must(a.Sites.RecordVerification(a.Context(), sites.Verification{Page: p, Inspection: i, Cause: cause}))
}

// upload posts a form with a file as browsers do.
func (a *pagesApp) upload(path, field, text, pasted string) apptest.Page {
	a.Helper()
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	a.Must(m.WriteField("credentials", pasted))
	if text != "" {
		part, err := m.CreateFormFile(field, "key.json")
		a.Must(err)
		_, err = part.Write([]byte(text))
		a.Must(err)
	}
	a.Must(m.Close())
	r := httptest.NewRequestWithContext(a.Context(), http.MethodPost, path, &b)
	r.Header.Set("Content-Type", m.FormDataContentType())
	return a.Browse(r)
}

// many adds n websites, each with a sitemap, pages and an error.
func (a *pagesApp) many(from, n int) {
	a.Helper()
	for i := range n {
		w := a.google(a.site(fmt.Sprintf("https://s%d.test/", from+i)))
		a.read(w, "a", "b")
		a.Must(a.Sites.RecordRead(a.Context(), a.sitemap(w, w.SiteURL+"bad.xml"), sites.ReadResult{Error: "status 404"}))
		a.Must(a.Sites.RecordServiceOutcome(a.Context(), w, sites.Indexing, sites.Outcome{Sitewide: true, Error: "not an owner"}))
		a.ended(w)
		a.Clock.Advance(time.Second)
	}
}

var (
	noSite  = models.NewID(models.KindWebsite)
	noForm  = url.Values{}
	noEntry = models.TimedID(models.KindSitemap, models.At(time.Unix(1, 0)), 1)
)
