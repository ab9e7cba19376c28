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

type fixture struct {
	*testing.T
	*sites.Store
	db    *models.DB
	clock *modelstest.Clock
	me    lease.ID
}

func each(t *testing.T, test func(w *fixture)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) { test(newFixture(t, db)) })
}

func newFixture(t *testing.T, db *models.DB) *fixture {
	t.Helper()
	clock := modelstest.NewClock()
	store := sites.NewStore(db, clock.Now, sites.Options{
		Limits: sites.Limits{PublishPerDay: 200, MetadataPerMinute: 180, RequestsPerMinute: 380, InspectionsPerDay: 2000, InspectionsPerMinute: 600, Concurrency: 4},
		Seal:   func(plain []byte, of string) ([]byte, error) { return append([]byte(of), plain...), nil },
		Open: func(sealed []byte, of string) ([]byte, error) {
			plain, ok := bytes.CutPrefix(sealed, []byte(of))
			if !ok {
				return nil, errors.New("sealed for another website")
			}
			return plain, nil
		},
	})
	return &fixture{T: t, Store: store, db: db, clock: clock, me: modelstest.Lease(t, db, "i_me")}
}

func (w *fixture) Context() context.Context { return w.T.Context() }

func (w *fixture) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *fixture) wantCode(err error, want models.Code) {
	w.Helper()
	if models.CodeOf(err) != want {
		w.Errorf("got error %v, want %s", err, want)
	}
}

func (w *fixture) site(url string) sites.Website {
	w.Helper()
	s, err := w.Add(w.Context(), sites.NewWebsite{SiteURL: url})
	w.must(err)
	return s
}

func (w *fixture) google(s sites.Website) sites.Website {
	w.Helper()
	s, err := w.SetCredentials(w.Context(), s.ID, []byte("{}"), sites.Account{ClientEmail: "robot@p.example", ProjectID: "p"})
	w.must(err)
	return s
}

func (w *fixture) sitemap(s sites.Website, url string) sites.Sitemap {
	w.Helper()
	m, _, err := w.AddSitemap(w.Context(), s.ID, url)
	w.must(err)
	return m
}

func (w *fixture) read(s sites.Website, m sites.Sitemap, entries ...sites.Entry) sites.Sitemap {
	w.Helper()
	ctx := w.Context()
	w.must(w.BeginReading(ctx, m))
	for batch := range slices.Chunk(entries, sites.StoreBatch) {
		_, err := w.StoreEntries(ctx, s, m, batch)
		w.must(err)
	}
	w.must(w.RecordRead(ctx, m, sites.ReadResult{Stored: true, Kind: sites.KindSitemap, Pages: len(entries), ContentHash: fmt.Append(nil, entries), Complete: true}))
	for n := sites.StoreBatch; n == sites.StoreBatch; {
		var err error
		n, err = w.DetachPages(ctx, s, m, false)
		w.must(err)
	}
	m.Generation++
	m.Kind = sites.KindSitemap
	return m
}

// entry is a sitemap entry; daysAgo -1 = without lastmod.
func (w *fixture) entry(url string, daysAgo int) sites.Entry {
	w.Helper()
	u, err := models.ParseURL("url", url)
	w.must(err)
	e := sites.Entry{URL: u}
	if daysAgo >= 0 {
		e.Lastmod = w.Now().Add(-time.Duration(daysAgo) * models.Day)
	}
	return e
}

// urls returns the paths of the pages that match a filter, in order.
func (w *fixture) urls(s sites.Website, f sites.Filter) []string {
	w.Helper()
	list, err := w.Pages(w.Context(), s.ID, f, models.Cursor{}, 500)
	w.must(err)
	paths := []string{}
	for _, p := range list.Items {
		paths = append(paths, p.Path())
	}
	return paths
}

func (w *fixture) page(s sites.Website, path string) sites.Page {
	w.Helper()
	for _, f := range []sites.Filter{{}, {Gone: true}} {
		list, err := w.Pages(w.Context(), s.ID, f, models.Cursor{}, 500)
		w.must(err)
		for _, p := range list.Items {
			if p.Path() == path {
				return p
			}
		}
	}
	w.Fatalf("no page %s", path)
	return sites.Page{}
}

func (w *fixture) counts(s sites.Website, want map[sites.Status]int) {
	w.Helper()
	c, err := w.Counts(w.Context(), s)
	w.must(err)
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
