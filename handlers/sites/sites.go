// Package sites is the HTTP face of websites: their operations under /v1, and their
// pages.
package sites

import (
	"context"

	"linkwatch/handlers/pages"
	"linkwatch/models/sites"
	views "linkwatch/views/sites"
)

// Deps are what the handlers work with.
type Deps struct {
	*pages.Frame
	Sites     *sites.Store
	Services  Services
	Elsewhere Elsewhere
	Others    []pages.Beside // what other systems show on the page of a website
}

// API is the operations under /v1.
type API struct{ *Deps }

// Pages are the pages.
type Pages struct{ *Deps }

// Services are the search engines, asked while somebody waits.
type Services interface {
	// Account reads the key of a Google service account. The error is CodeInvalid ("credentials") and says what is wrong.
	Account(key []byte) (sites.Account, error)
	// Test asks Google whether the website's credentials work, part by part. The error is a *models.Error, or that of ctx.
	Test(ctx context.Context, w sites.Website) ([]views.Check, error)
	// CheckKey looks for the IndexNow key on the website; problem is what is wrong, "" = nothing. The error is that of ctx.
	CheckKey(ctx context.Context, w sites.Website) (problem string, err error)
	// NewKey makes an IndexNow key.
	NewKey() string
}

// MaxFinds is how many pages one call of Elsewhere saves or watches.
const MaxFinds = 100

// MaxCrawl is how many pages one call of Elsewhere.Crawl takes.
const MaxCrawl = 500

// Outcome is what became of pages that were saved or watched.
type Outcome struct {
	Added   int // were not there before
	Known   int // were there, and stay as they are
	Refused int // are not URLs that the other system takes
}

// Elsewhere is what other systems know of pages, and do with them. Its methods take
// batches, and their number of queries does not depend on how many pages there are. They
// fetch nothing.
type Elsewhere interface {
	Save(ctx context.Context, urls []string, private bool) (Outcome, error)  // as links
	Watch(ctx context.Context, urls []string, private bool) (Outcome, error) // as targets
	// Kept returns where there is a page of each URL, by the URL as it was given. URLs of which there is nothing are missing.
	Kept(ctx context.Context, urls []string) (map[string]views.Kept, error)
	// Facts returns what crawls, checks and saved links know of the pages of canonical URLs, by these. Those of which nothing is known are
	// missing.
	Facts(ctx context.Context, canonical []string) (map[string]sites.Known, error)
	// Crawl starts a crawl of a website, which also fetches up to MaxCrawl of its pages, and returns the path of the crawl's page. A page that
	// is outside the domains of the crawl is left out. Errors include CodeConflict if the crawls of the website are disabled.
	Crawl(ctx context.Context, w sites.Website, urls []string) (path string, err error)
}
