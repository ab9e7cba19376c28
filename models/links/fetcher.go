package links

import (
	"context"
	"time"
)

// The limits under which a link must answer 200 to be saved (seed 001).
const (
	FetchRedirects = 4
	FetchTimeout   = 4 * time.Second
)

// Page is what a fetch of a link found.
type Page struct {
	Status    int
	URL       string // where it ended after redirects
	Permanent bool   // there were redirects, and each was a permanent one
	Title     string // by the seed's order: OpenGraph, Twitter card, <title>
	OpenGraph OpenGraph
}

// Fetcher gets pages from the web.
type Fetcher interface {
	// Fetch gets a page with its metadata, under FetchRedirects and
	// FetchTimeout. Any status is a Page; the error is a *FetchError.
	Fetch(ctx context.Context, url string) (Page, error)
	// Probe asks whether a page is there: HEAD, then GET if HEAD did not
	// answer 200. The Page has no metadata; the error is a *FetchError.
	Probe(ctx context.Context, url string) (Page, error)
}

// FetchError is why a page could not be had.
type FetchError struct {
	Reason     string        // short and stable, fit for strangers: "host not found"
	Blocked    bool          // the address may not be fetched at all
	Busy       bool          // nothing was sent, since too many pages are being fetched: it says nothing about the link
	RetryAfter time.Duration // the host asked for a pause this long, or with Busy, when to try again; 0 = unknown
	Err        error
}

func (e *FetchError) Error() string { return e.Reason }

func (e *FetchError) Unwrap() error { return e.Err }
