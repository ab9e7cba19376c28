package apptest

import (
	"context"
	"sync"

	"linkwatch/models/links"
)

// Web is a links.Fetcher with a fake web. By default a URL responds with 200 and a title.
type Web struct {
	mu    sync.Mutex
	pages map[string]any // links.Page, error or func(context.Context)
}

// Set sets the response of a URL: a links.Page, an error, or a func(context.Context) that
// runs until the context ends.
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
