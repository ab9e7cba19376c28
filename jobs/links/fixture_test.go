package links_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/jobs"
	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
)

const week = 7 * models.Day

// world is a store of links on local test servers.
type world struct {
	*links.Store
	db    *models.DB
	clock *modelstest.Clock
	lease *lease.Lease // of this instance
}

// each runs a test on every database and checks for goroutine leaks.
func each(t *testing.T, test func(t *testing.T, w world)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		modelstest.NoLeaks(t)
		clock := modelstest.NewClock()
		holder := lease.New(db, clock.Now)
		if err := holder.Beat(t.Context()); err != nil {
			t.Fatal(err)
		}
		heartbeat := jobs.NewHeartbeat(holder, discard)
		heartbeat.Start()
		t.Cleanup(func() { heartbeat.Stop(context.Background()) })
		test(t, world{links.NewStore(db, clock.Now, apptest.NewFetcher(t), links.Options{CheckInterval: week}), db, clock, holder})
	})
}

var discard = slog.New(slog.DiscardHandler)

// due claims up to n due links as another instance.
func (w world) due(t *testing.T, n int) []links.Claimed {
	t.Helper()
	ls, _, err := w.Claim(t.Context(), modelstest.Lease(t, w.db, "k_other"), n)
	if err != nil {
		t.Fatal(err)
	}
	return ls
}

// add imports links and moves the clock to when all are due.
func (w world) add(t *testing.T, urls ...string) {
	t.Helper()
	var ns []links.New
	for _, u := range urls {
		ns = append(ns, links.New{URL: u})
	}
	if n, err := w.Import(t.Context(), ns); err != nil || n != len(urls) {
		t.Fatalf("importing: %d, %v", n, err)
	}
	w.clock.Advance(2 * week)
}

func numbered(base string, n int) (urls []string) {
	for i := range n {
		urls = append(urls, fmt.Sprintf("%s/%d", base, i))
	}
	return urls
}

func (w world) all(t *testing.T) map[string]links.Link {
	t.Helper()
	page, err := w.List(t.Context(), links.Filter{Shown: links.ShowAll}, models.Page{Number: 1, Size: 100})
	if err != nil {
		t.Fatal(err)
	}
	byURL := map[string]links.Link{}
	for _, l := range page.Items {
		byURL[l.URL] = l
	}
	return byURL
}
