package app

import (
	"context"
	"time"

	"linkwatch/demo"
	"linkwatch/handlers"
	linkhandlers "linkwatch/handlers/links"
	"linkwatch/jobs"
	linkjobs "linkwatch/jobs/links"
	"linkwatch/models"
	"linkwatch/models/audit"
	"linkwatch/models/cleanup"
	"linkwatch/models/links"
)

// maxRequestFetches limits concurrent fetches for requests of users: saves, previews and refreshes. A fetch uses
// up to some megabytes of memory. More fetches wait for requestFetchWait, then fail with 503.
const (
	maxRequestFetches = 16
	requestFetchWait  = 5 * time.Second
)

// Links is the system of saved links and tags.
type Links struct {
	System
	Store *links.Store
	deps  *linkhandlers.Deps
	pages linkhandlers.Pages
}

func newLinks(c *core) *Links {
	cfg := c.Config
	fetch, background := c.Fetcher, c.Fetcher
	if fetch == nil {
		fetch = NewFetcher(c.outbound.Budget(maxRequestFetches, requestFetchWait))
		background = NewFetcher(c.outbound.Budget(2*cfg.MaxConcurrency, 0)) // revalidation and refresher
	}
	store := links.NewStore(c.DB, c.Clock, fetch, links.Options{
		CheckInterval: cfg.LinkCheckInterval, Background: background, Seal: c.Secrets.Seal, Open: c.Secrets.Open,
	})
	deps := &linkhandlers.Deps{Frame: c.frame, Links: store, Metrics: linkhandlers.NewMetrics(c.registry)}
	pages := linkhandlers.Pages{Deps: deps}
	return &Links{Store: store, deps: deps, pages: pages, System: System{
		Items: map[string]audit.Item{
			string(models.KindLink): audit.ItemOf("link", store.Get, links.Link.DisplayTitle),
			string(models.KindTag):  audit.ItemOf("tag", store.Tag, func(t links.Tag) string { return t.Name }),
		},
		System: handlers.System{
			Name: "links",
			Nav:  linkhandlers.Nav(), Overview: pages.Overview, Finders: pages.Finders(), Flash: pages.Flashes(), Routes: pages.Routes(),
			Groups: linkhandlers.Groups(), Operations: linkhandlers.API{Deps: deps}.Register,
		},
		Services: []jobs.Service{linkjobs.NewRefresher(store, c.lease, cfg.MaxConcurrency, c.Log)},
		Jobs:     []jobs.Job{linkjobs.Revalidation(store, c.lease, cfg.MaxConcurrency, c.Log)},
		Events:   links.Events(),
		Deletes: []cleanup.Kind{
			{Kind: "tags", Label: "Tags", Description: "without links", Remove: store.ReapTags},
			{Kind: "link_changes", Label: "Undo history", Description: "older than a day", Remove: store.ReapChanges},
			{Kind: "link_refreshes", Label: "Refreshes", Description: "finished, older than a day", Remove: store.ReapRefreshes},
			{Kind: "link_words", Label: "Search words", Description: "in no link", Remove: store.ReapWords},
		},
		Demo: func(ctx context.Context, r *demo.Run) (string, error) {
			return demo.Links(ctx, r, cfg.LinkCheckInterval)
		},
	}}
}
