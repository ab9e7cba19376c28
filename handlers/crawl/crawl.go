// Package crawl serves crawling over HTTP: the API operations of sources, jobs and the
// frontier, their event streams, and the pages.
package crawl

import (
	"context"

	"linkwatch/handlers/middleware"
	"linkwatch/handlers/pages"
	"linkwatch/models/crawl"
)

// Deps are the dependencies of the handlers.
type Deps struct {
	*pages.Frame
	Crawl   *crawl.Store
	Streams *middleware.Streams
	Metrics func() crawl.Metrics                                // as collected last; zero if never
	Sync    func(ctx context.Context) (crawl.SyncReport, error) // syncs enabled sources to jobs
	Ready   func(ctx context.Context) error                     // returns an error while the program is not ready

	Archive       Archive // nil = no archive
	Saver         Saver   // saves found URLs as links and targets
	FeedDiscovery bool    // crawls add the feeds that start pages link to
	FeedPolling   bool    // feeds are polled

	// Link returns a saved link that the caller can see. The error is CodeNotFound if there is none.
	Link func(ctx context.Context, id string) (pages.Subject, error)

	Others []pages.Related // sections and buttons of other systems on the page of a job
}

// API holds the operations under /v1.
type API struct{ *Deps }

// Pages holds the pages.
type Pages struct{ *Deps }
