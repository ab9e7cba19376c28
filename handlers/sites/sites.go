// Package sites has the HTTP handlers of websites: the API operations and the pages.
package sites

import (
	"context"

	"linkwatch/handlers/pages"
	"linkwatch/models/sites"
	views "linkwatch/views/sites"
)

// Deps are the dependencies of the handlers.
type Deps struct {
	*pages.Frame
	Sites        *sites.Store
	Services     Services
	OtherSystems OtherSystems
	Others       []pages.Related // sections of other systems on the page of a website
}

// API has the operations under /v1.
type API struct{ *Deps }

// Pages has the HTML pages.
type Pages struct{ *Deps }

// Services sends requests to search engines and websites while the user waits.
type Services interface {
	// Account parses the JSON key of a Google service account. The error is CodeInvalid ("credentials").
	Account(key []byte) (sites.Account, error)
	// Test tests the Google credentials of a website. The error is a *models.Error or ctx.Err().
	Test(ctx context.Context, w sites.Website) ([]views.Check, error)
	// CheckKey checks the IndexNow key file. problem describes what is wrong, "" = nothing. The error is ctx.Err().
	CheckKey(ctx context.Context, w sites.Website) (problem string, err error)
	// NewKey generates an IndexNow key.
	NewKey() string
}

// MaxBulkAdd is the maximum number of pages that one call of Save or Watch accepts.
const MaxBulkAdd = 100

// MaxCrawl is the maximum number of pages that one call of Crawl accepts.
const MaxCrawl = 500

// Outcome counts pages that were added to links or targets.
type Outcome struct {
	Added   int // new
	Known   int // existed already, not changed
	Refused int // URLs that the other system does not accept
}

// OtherSystems are the links, targets and crawls related to pages. The number of queries of a method does not depend on
// the number of pages. The methods fetch nothing.
type OtherSystems interface {
	Save(ctx context.Context, urls []string, private bool) (Outcome, error)  // as links
	Watch(ctx context.Context, urls []string, private bool) (Outcome, error) // as targets
	// Related returns the related items by URL, as given. URLs without any are omitted.
	Related(ctx context.Context, urls []string) (map[string]views.Related, error)
	// Evidence returns what crawls, checks and saved links know about pages, by canonical URL. Unknown pages are omitted.
	Evidence(ctx context.Context, canonical []string) (map[string]sites.Evidence, error)
	// Crawl starts a crawl of a website that also fetches up to MaxCrawl given pages, and returns the path of its page, which ends
	// in the ID of the job. It skips pages outside the domains of the crawl. Errors include CodeConflict if the crawls of the website are disabled.
	Crawl(ctx context.Context, w sites.Website, urls []string) (path string, err error)
}
