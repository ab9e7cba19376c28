// Package crawl is the HTTP face of crawling: the operations of sources, jobs and the
// frontier under /v1, their event streams, and their pages.
package crawl

import (
	"context"

	"linkwatch/handlers/middleware"
	"linkwatch/handlers/pages"
	"linkwatch/models/crawl"
)

// Deps are what the handlers work with.
type Deps struct {
	*pages.Frame
	Crawl   *crawl.Store
	Streams *middleware.Streams
	Metrics func() crawl.Metrics                                // as they were collected last; zero: never
	Sync    func(ctx context.Context) (crawl.SyncReport, error) // syncs enabled sources to jobs
	Ready   func(ctx context.Context) error                     // an error while the program cannot serve

	Archive       Archive // nil = there is none
	Finds         Finds   // what other systems do with what crawls find
	FeedDiscovery bool    // crawls add the feeds that start pages link to
	FeedPolling   bool    // feeds are polled

	Others []pages.Beside // what other systems show on the page of a job
}

// API is the operations under /v1.
type API struct{ *Deps }

// Pages are the pages.
type Pages struct{ *Deps }
