package links_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/cleanup"
	"linkwatch/models/lease"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
)

// web is a Fetcher with pages that the test sets. Other URLs return 200 and a title.
type web struct {
	mu        sync.Mutex
	pages     map[string]links.Page
	errs      map[string]error
	requests  []string // "fetch URL" or "probe URL"
	onRequest func()   // called before each response
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

func (w *web) respond(how, url string) (links.Page, error) {
	if w.onRequest != nil {
		w.onRequest()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, how+" "+url)
	if err := w.errs[url]; err != nil {
		return links.Page{}, err
	}
	if p, ok := w.pages[url]; ok {
		return p, nil
	}
	return links.Page{Status: 200, URL: url, Title: "Page at " + url}, nil
}

func (w *web) Fetch(_ context.Context, url string) (links.Page, error) {
	return w.respond("fetch", url)
}
func (w *web) Probe(_ context.Context, url string) (links.Page, error) {
	return w.respond("probe", url)
}

// fixture is a store on one database, with a web and a clock that the test sets.
type fixture struct {
	*testing.T
	*links.Store
	db    *models.DB
	web   *web
	clock *modelstest.Clock
	lease lease.ID // of this instance
}

const week = 7 * models.Day

func each(t *testing.T, test func(t fixture)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) { test(newFixture(t, db)) })
}

func newFixture(t *testing.T, db *models.DB) fixture {
	t.Helper()
	f := fixture{T: t, db: db, web: &web{}, clock: modelstest.NewClock()}
	f.Store = links.NewStore(db, f.clock.Now, f.web, links.Options{CheckInterval: week})
	f.lease = f.instance("k_test")
	return f
}

func (f fixture) instance(name string) lease.ID {
	f.Helper()
	return modelstest.Lease(f, f.db, name)
}

// endLease ends the lease of an instance, as other instances do if its heartbeat is missing.
func (f fixture) endLease(id lease.ID) {
	f.Helper()
	modelstest.Exec(f, f.db, "DELETE FROM instances WHERE id = ?", id)
}

// claim claims up to n due links as an instance.
func (f fixture) claim(id lease.ID, n int) []links.Claimed {
	f.Helper()
	ls, _, err := f.Claim(f.Context(), id, n)
	f.must(err)
	return ls
}

// check checks claimed links without recording the results.
func (f fixture) check(ls ...links.Claimed) (done []links.Checked) {
	f.Helper()
	for _, l := range ls {
		c, err := f.Check(f.Context(), l)
		f.must(err)
		done = append(done, c)
	}
	return done
}

func (f fixture) release(after time.Duration, ls ...links.Claimed) {
	f.Helper()
	f.must(f.Release(f.Context(), releases(after, ls)...))
}

func releases[T any](after time.Duration, items []T) (out []lease.Released[T]) {
	for _, i := range items {
		out = append(out, lease.Released[T]{Item: i, After: after})
	}
	return out
}

// claimRefreshes claims up to n queued links as an instance.
func (f fixture) claimRefreshes(id lease.ID, n int) []links.RefreshItem {
	f.Helper()
	items, _, err := f.ClaimRefreshes(f.Context(), id, n)
	f.must(err)
	return items
}

// refetch fetches the pages of claimed items without recording the results.
func (f fixture) refetch(items ...links.RefreshItem) (done []links.Refetched) {
	f.Helper()
	for _, item := range items {
		r, err := f.Refetch(f.Context(), item)
		f.must(err)
		done = append(done, r)
	}
	return done
}

// reap runs one kind of cleanup once.
func (f fixture) reap(part cleanup.Remove, limit int) (n int64) {
	f.Helper()
	f.must(f.db.Write(f.Context(), func(tx *gorm.DB) (err error) {
		n, err = part(tx, limit)
		return err
	}))
	return n
}

func (f fixture) add(url string, tags ...string) links.Link {
	f.Helper()
	l, _, err := f.Add(f.Context(), links.New{URL: url, Tags: tags})
	if err != nil {
		f.Fatalf("saving %s: %v", url, err)
	}
	return l
}

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

// urls returns the URLs of a list, in order.
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
		if t.FoldedName == models.FoldName(name) {
			return t
		}
	}
	f.Fatalf("no tag %q", name)
	return links.Tag{}
}
