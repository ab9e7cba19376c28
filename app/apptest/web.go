package apptest

import (
	"context"
	"sync"

	"linkwatch/models/links"
)

// Web is a links.Fetcher that knows every page: those that were not changed
// answer 200 with a title.
type Web struct {
	mu    sync.Mutex
	pages map[string]any // links.Page, error, or what to do until the caller gives up
}

// Set makes a URL answer with a links.Page or an error, or do something until the
// caller gives up (a func(context.Context)).
func (w *Web) Set(url string, answer any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pages[url] = answer
}

// Fetch implements links.Fetcher.
func (w *Web) Fetch(ctx context.Context, url string) (links.Page, error) {
	w.mu.Lock()
	answer := w.pages[url]
	w.mu.Unlock()
	switch a := answer.(type) {
	case func(context.Context):
		a(ctx)
		return links.Page{}, ctx.Err()
	case links.Page:
		return a, nil
	case error:
		return links.Page{}, a
	}
	return links.Page{Status: 200, URL: url, Title: "Page of " + url, OpenGraph: links.OpenGraph{
		Title: "OG", Description: "D", Image: "https://pics.test/a.png", SiteName: "S", Type: "website",
	}}, nil
}

// Probe implements links.Fetcher.
func (w *Web) Probe(ctx context.Context, url string) (links.Page, error) { return w.Fetch(ctx, url) }
