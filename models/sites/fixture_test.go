package sites_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
	"linkwatch/models/sites"
)

// world is a store by a clock that stands still until it is moved.
type world struct {
	*testing.T
	*sites.Store
	db    *models.DB
	clock *modelstest.Clock
	me    lease.ID
}

// each runs a test on each engine.
func each(t *testing.T, test func(w *world)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) { test(newWorld(t, db)) })
}

func newWorld(t *testing.T, db *models.DB) *world {
	t.Helper()
	clock := modelstest.NewClock()
	store := sites.NewStore(db, clock.Now, sites.Options{
		Limits: sites.Limits{PublishPerDay: 200, MetadataPerMinute: 180, RequestsPerMinute: 380, InspectionsPerDay: 2000, InspectionsPerMinute: 600, Concurrency: 4},
		Seal:   func(plain []byte, of string) ([]byte, error) { return append([]byte(of), plain...), nil },
		Open: func(sealed []byte, of string) ([]byte, error) {
			plain, ok := bytes.CutPrefix(sealed, []byte(of))
			if !ok {
				return nil, errors.New("sealed for another")
			}
			return plain, nil
		},
	})
	return &world{T: t, Store: store, db: db, clock: clock, me: modelstest.Lease(t, db, "i_me")}
}

func (w *world) Context() context.Context { return w.T.Context() }

// ok fails the test for an error.
func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// code fails the test unless err has a code.
func (w *world) code(err error, want models.Code) {
	w.Helper()
	if models.CodeOf(err) != want {
		w.Errorf("the error is %v, want %s", err, want)
	}
}

// site adds a website.
func (w *world) site(url string) sites.Website {
	w.Helper()
	s, err := w.Add(w.Context(), sites.NewWebsite{SiteURL: url})
	w.ok(err)
	return s
}

// google gives a website credentials.
func (w *world) google(s sites.Website) sites.Website {
	w.Helper()
	s, err := w.SetCredentials(w.Context(), s.ID, []byte("{}"), sites.Account{ClientEmail: "robot@p.example", ProjectID: "p"})
	w.ok(err)
	return s
}

// sitemap adds a sitemap.
func (w *world) sitemap(s sites.Website, url string) sites.Sitemap {
	w.Helper()
	m, _, err := w.AddSitemap(w.Context(), s.ID, url)
	w.ok(err)
	return m
}

// read stores pages as those of a sitemap, and detaches the others. A URL may be
// followed by its age in days.
func (w *world) read(s sites.Website, m sites.Sitemap, entries ...sites.Entry) sites.Sitemap {
	w.Helper()
	ctx := w.Context()
	w.ok(w.BeginReading(ctx, m))
	for some := range slices.Chunk(entries, sites.StoreBatch) {
		_, err := w.StoreEntries(ctx, s, m, some)
		w.ok(err)
	}
	w.ok(w.RecordRead(ctx, m, sites.Read{Stored: true, Kind: sites.KindSitemap, Pages: len(entries), ContentHash: fmt.Append(nil, entries), Complete: true}))
	for n := sites.StoreBatch; n == sites.StoreBatch; {
		var err error
		n, err = w.Detach(ctx, s, m, false)
		w.ok(err)
	}
	m.Reading++
	m.Kind = sites.KindSitemap
	return m
}

// entry is a page that was modified some days ago; -1 = its sitemap does not say.
func (w *world) entry(url string, daysAgo int) sites.Entry {
	w.Helper()
	u, err := models.ParseURL("url", url)
	w.ok(err)
	e := sites.Entry{URL: u}
	if daysAgo >= 0 {
		e.Lastmod = w.Now().Add(-time.Duration(daysAgo) * models.Day)
	}
	return e
}

// urls are those of a list of pages, as paths.
func (w *world) urls(s sites.Website, f sites.Filter) []string {
	w.Helper()
	list, err := w.Pages(w.Context(), s.ID, f, models.Cursor{}, 500)
	w.ok(err)
	paths := []string{}
	for _, p := range list.Items {
		paths = append(paths, p.Path())
	}
	return paths
}

// page is the page of a path.
func (w *world) page(s sites.Website, path string) sites.Page {
	w.Helper()
	for _, f := range []sites.Filter{{}, {Gone: true}} {
		list, err := w.Pages(w.Context(), s.ID, f, models.Cursor{}, 500)
		w.ok(err)
		for _, p := range list.Items {
			if p.Path() == path {
				return p
			}
		}
	}
	w.Fatalf("there is no page %s", path)
	return sites.Page{}
}

// counts checks that the counts of a website are those of its pages.
func (w *world) counts(s sites.Website, want map[sites.Status]int) {
	w.Helper()
	c, err := w.Counts(w.Context(), s)
	w.ok(err)
	total := 0
	for status, n := range want {
		total += n
		if c.ByStatus[status] != n {
			w.Errorf("%d pages are %s, want %d", c.ByStatus[status], status, n)
		}
	}
	if c.Total != total {
		w.Errorf("%d pages, want %d: %v", c.Total, total, c)
	}
}

func ptr[T any](v T) *T { return &v }
