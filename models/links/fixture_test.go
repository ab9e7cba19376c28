package links_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
)

// web is a Fetcher over pages that the test writes. Addresses that it does not
// know answer 200 with a title of their own.
type web struct {
	mu     sync.Mutex
	pages  map[string]links.Page
	errs   map[string]error
	asked  []string // "fetch URL" or "probe URL"
	onLook func()   // called before each answer
}

func (w *web) set(url string, p links.Page) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pages == nil {
		w.pages = map[string]links.Page{}
	}
	delete(w.errs, url)
	w.pages[url] = p
}

func (w *web) fail(url string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.errs == nil {
		w.errs = map[string]error{}
	}
	w.errs[url] = err
}

func (w *web) look(how, url string) (links.Page, error) {
	if w.onLook != nil {
		w.onLook()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, how+" "+url)
	if err := w.errs[url]; err != nil {
		return links.Page{}, err
	}
	if p, ok := w.pages[url]; ok {
		return p, nil
	}
	return links.Page{Status: 200, URL: url, Title: "Page at " + url}, nil
}

func (w *web) Fetch(_ context.Context, url string) (links.Page, error) { return w.look("fetch", url) }
func (w *web) Probe(_ context.Context, url string) (links.Page, error) { return w.look("probe", url) }

// fixture is a store over one engine with a web and a clock of the test's.
type fixture struct {
	*testing.T
	*links.Store
	db    *models.DB
	web   *web
	clock *modelstest.Clock
}

const week = 7 * 24 * time.Hour

func each(t *testing.T, test func(t fixture)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := fixture{T: t, db: db, web: &web{}, clock: modelstest.NewClock()}
		f.Store = links.NewStore(db, f.clock.Now, f.web, links.Options{CheckInterval: week})
		test(f)
	})
}

func (f fixture) add(url string, tags ...string) links.Link {
	f.Helper()
	l, _, err := f.Add(f.Context(), links.New{URL: url, Tags: tags})
	if err != nil {
		f.Fatalf("saving %s: %v", url, err)
	}
	return l
}

// titled saves a page with a title.
func (f fixture) titled(url, title string, tags ...string) links.Link {
	f.Helper()
	f.web.set(url, links.Page{Status: 200, URL: url, Title: title})
	return f.add(url, tags...)
}

func (f fixture) get(id string) links.Link {
	f.Helper()
	l, err := f.Get(f.Context(), id)
	if err != nil {
		f.Fatal(err)
	}
	return l
}

func (f fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f fixture) wantCode(err error, code models.Code) {
	f.Helper()
	if models.CodeOf(err) != code {
		f.Fatalf("error %v, want code %q", err, code)
	}
}

var firstPage = models.Page{Number: 1, Size: models.DefaultPerPage}

// urls are the addresses that a filter lists, in order.
func (f fixture) urls(filter links.Filter) []string {
	f.Helper()
	found, err := f.List(f.Context(), filter, firstPage)
	if err != nil {
		f.Fatalf("listing %+v: %v", filter, err)
	}
	out := []string{}
	for _, l := range found.Items {
		out = append(out, l.URL)
	}
	if found.Total < len(out) || found.Total > len(out) && len(out) < firstPage.Size {
		f.Fatalf("listing %+v: total %d with %d items on the only page", filter, found.Total, len(out))
	}
	return out
}

func (f fixture) tagNames(order links.TagOrder) []string {
	f.Helper()
	ts, err := f.Tags(f.Context(), "", order, firstPage)
	f.must(err)
	out := []string{}
	for _, t := range ts.Items {
		out = append(out, t.Name)
	}
	return out
}

func (f fixture) tag(name string) links.Tag {
	f.Helper()
	ts, err := f.Tags(f.Context(), name, links.TagsByName, firstPage)
	f.must(err)
	for _, t := range ts.Items {
		if t.Folded == models.FoldName(name) {
			return t
		}
	}
	f.Fatalf("no tag %q", name)
	return links.Tag{}
}
