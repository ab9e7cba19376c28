package app

import (
	"fmt"

	"linkwatch/handlers"
	sitehandlers "linkwatch/handlers/sites"
	"linkwatch/models"
	"linkwatch/models/cleanup"
	"linkwatch/models/sites"
)

// Sites is the system of websites: their sitemaps, the submission of their pages, and
// what Google says of them.
type Sites struct {
	System
	Store *sites.Store
	deps  *sitehandlers.Deps
	pages sitehandlers.Pages
}

func newSites(c *core) (*Sites, error) {
	cfg := c.Config
	store := sites.NewStore(c.DB, c.Clock, sites.Options{
		Limits: sites.Limits{
			PublishPerDay: cfg.GooglePublishPerDay, MetadataPerMinute: cfg.GoogleMetadataPerMinute, RequestsPerMinute: cfg.GoogleRequestsPerMinute,
			InspectionsPerDay: cfg.GoogleInspectionsPerDay, InspectionsPerMinute: cfg.GoogleInspectionsPerMinute, Concurrency: cfg.GoogleConcurrency,
		},
	})
	deps := &sitehandlers.Deps{Frame: c.frame, Sites: store}
	pages := sitehandlers.Pages{Deps: deps}
	return &Sites{Store: store, deps: deps, pages: pages, System: System{
		System: handlers.System{
			Routes: pages.Routes(), Groups: sitehandlers.Groups(), Operations: sitehandlers.API{Deps: deps}.Register,
		},
		Deletes: []cleanup.Kind{ // websites last: those that still have pages wait
			{Kind: "submissions", Label: "Submissions", Description: fmt.Sprintf("to search engines, older than %d days", sites.KeepSubmissions/models.Day), Remove: store.ReapSubmissions},
			{Kind: "coverage_days", Label: "Coverage", Description: fmt.Sprintf("of websites by day, older than %d days", sites.KeepCoverage/models.Day), Remove: store.ReapCoverage},
			{
				Kind: "pages", Label: "Pages of websites", Remove: store.ReapPages,
				Description: fmt.Sprintf("that no sitemap has had for %d days, and those of websites that were deleted a day ago", sites.KeepGone/models.Day),
			},
			{Kind: "websites", Label: "Websites", Description: "with their sitemaps, a day after they were deleted", Remove: store.ReapWebsites},
		},
	}}, nil
}
