package app

import (
	"context"
	"fmt"

	"linkwatch/demo"
	"linkwatch/handlers"
	sitehandlers "linkwatch/handlers/sites"
	"linkwatch/jobs"
	sitejobs "linkwatch/jobs/sites"
	"linkwatch/jobs/sites/google"
	"linkwatch/jobs/sites/indexnow"
	"linkwatch/models"
	"linkwatch/models/audit"
	"linkwatch/models/cleanup"
	"linkwatch/models/schedule"
	"linkwatch/models/sites"
)

// Sites is the system of websites: sitemaps, submission of pages, and their index status.
type Sites struct {
	System
	Store *sites.Store
	Deps  *sitehandlers.Deps // tests replace Services and OtherSystems
	pages sitehandlers.Pages
}

func newSites(c *core) (*Sites, error) {
	cfg := c.Config
	store := sites.NewStore(c.DB, c.Clock, sites.Options{
		Limits: sites.Limits{
			PublishPerDay: cfg.GooglePublishPerDay, MetadataPerMinute: cfg.GoogleMetadataPerMinute, RequestsPerMinute: cfg.GoogleRequestsPerMinute,
			InspectionsPerDay: cfg.GoogleInspectionsPerDay, InspectionsPerMinute: cfg.GoogleInspectionsPerMinute, Concurrency: cfg.GoogleConcurrency,
		},
		Seal: c.Secrets.Seal, Open: c.Secrets.Open,
	})
	agent := cfg.UserAgent(c.Version)
	endpoints, err := google.NewEndpoints(google.Options{
		Indexing: cfg.GoogleIndexingEndpoint, SearchConsole: cfg.GoogleSearchConsoleEndpoint, Token: cfg.GoogleTokenEndpoint, UserAgent: agent,
	})
	if err != nil {
		return nil, fmt.Errorf("create Google clients: %w", err)
	}
	indexNow, err := indexnow.NewClient(indexnow.Options{Endpoint: cfg.IndexNowEndpoint, UserAgent: agent})
	if err != nil {
		return nil, fmt.Errorf("create IndexNow client: %w", err)
	}
	worker := sitejobs.New(sitejobs.Options{
		Store: store, Lease: c.lease, Client: c.outbound.Budget(sitejobs.Parallel, 0), Google: endpoints, IndexNow: indexNow, Log: c.Log,
		Concurrency: cfg.GoogleConcurrency, SitemapInterval: cfg.SitemapInterval, SubmissionInterval: cfg.SubmissionInterval,
		VerificationInterval: cfg.VerificationInterval,
	})
	deps := &sitehandlers.Deps{Frame: c.frame, Sites: store, Services: services{worker}}
	pages := sitehandlers.Pages{Deps: deps}
	return &Sites{Store: store, Deps: deps, pages: pages, System: System{
		Items: map[string]audit.Item{
			string(models.KindWebsite): audit.ItemOf("website", store.Get, func(w sites.Website) string { return w.Name }),
			string(models.KindPage):    audit.ItemOf("page", store.Page, func(p sites.Page) string { return p.URL }),
		},
		System: handlers.System{
			Name: "sites",
			Nav:  sitehandlers.Nav(), Overview: pages.Overview, Finders: pages.Finders(), Flash: pages.Flashes(), Routes: pages.Routes(),
			Groups: sitehandlers.Groups(), Operations: sitehandlers.API{Deps: deps}.Register,
		},
		Services: []jobs.Service{worker},
		Jobs:     worker.Jobs(),
		Demo: func(ctx context.Context, r *demo.Run) (string, error) {
			return demo.Sites(ctx, r, schedule.Job{ID: string(sites.Reading), Schedule: worker.Jobs()[0].Schedule})
		},
		Close: func() {
			endpoints.Close()
			indexNow.Close()
		},
		Events: sites.Events(),
		Deletes: []cleanup.Kind{ // websites last, since they must have no pages
			{Kind: "submissions", Label: "Submissions", Description: fmt.Sprintf("to search engines, older than %d days", sites.KeepSubmissions/models.Day), Remove: store.ReapSubmissions},
			{Kind: "coverage_days", Label: "Coverage", Description: fmt.Sprintf("of websites by day, older than %d days", sites.KeepCoverage/models.Day), Remove: store.ReapCoverage},
			{Kind: "quota_days", Label: "Quota use", Description: "older than 40 days", Remove: store.ReapQuotaDays},
			{
				Kind: "pages", Label: "Pages of websites", Remove: store.ReapPages,
				Description: fmt.Sprintf("in no sitemap for %d days, or of websites deleted more than a day ago", sites.KeepGone/models.Day),
			},
			{Kind: "websites", Label: "Websites", Description: "deleted more than a day ago, with their sitemaps", Remove: store.ReapWebsites},
		},
	}}, nil
}
