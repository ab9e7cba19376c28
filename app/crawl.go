package app

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"

	"linkwatch/demo"
	"linkwatch/handlers"
	crawlhandlers "linkwatch/handlers/crawl"
	"linkwatch/handlers/middleware"
	"linkwatch/jobs"
	crawljobs "linkwatch/jobs/crawl"
	"linkwatch/models"
	"linkwatch/models/audit"
	"linkwatch/models/cleanup"
	"linkwatch/models/crawl"
	"linkwatch/outbound"
	"linkwatch/views/ui"
)

// maxStreams is how many event streams are open at a time.
const maxStreams = 200

// Crawl is the system of sources, crawl jobs and the frontier.
type Crawl struct {
	System
	Store   *crawl.Store
	Crawler *crawljobs.Crawler
	deps    *crawlhandlers.Deps
	pages   crawlhandlers.Pages
}

func newCrawl(c *core) (*Crawl, error) {
	cfg := c.Config
	store := crawl.NewStore(c.DB, c.Clock, crawl.Options{
		StaleAfter: cfg.CrawlerStaleLockAfter, Elasticsearch: cfg.CrawlerElasticsearchURL != "", FeedInterval: cfg.CrawlerFeedPollInterval,
		ArchiveRetention: cfg.CrawlerArchiveRetention, Archive: cfg.CrawlerArchiveURL != "" || cfg.CrawlerMinIOEnabled,
	})
	client, robots, err := crawlClient(c)
	if err != nil {
		return nil, err
	}
	sync, err := crawlSync(c, store)
	if err != nil {
		return nil, err
	}
	kept, err := newArchived(c, store)
	if err != nil {
		return nil, err
	}
	crawler, err := crawljobs.New(store, crawljobs.Options{
		Lease: c.lease, Client: client, Robots: robots, Workers: crawlWorkers(c), PollInterval: cfg.CrawlerPollInterval,
		FollowRedirects: cfg.FetcherFollowRedirects, MaxRedirects: cfg.FetcherMaxRedirects, RandomUserAgent: cfg.CrawlerUseRandomUserAgent,
		Readability:   cfg.CrawlerReadabilityFallbackEnabled,
		FeedDiscovery: cfg.CrawlerFeedDiscoveryEnabled, FeedPolling: cfg.CrawlerFeedPollEnabled,
		Archive: kept.add, Agent: agentToken(c), Redis: c.Redis, Log: c.Log, Registry: c.registry,
	})
	if err != nil {
		return nil, err
	}
	deps := &crawlhandlers.Deps{
		Frame: c.frame, Crawl: store, Streams: middleware.NewStreams(c.frame.Errors, c.health.WhenStopping(), maxStreams),
		Metrics: crawler.Metrics, Ready: c.DB.Ready, Archive: kept.reader,
		Sync: sync, FeedDiscovery: cfg.CrawlerFeedDiscoveryEnabled, FeedPolling: cfg.CrawlerFeedPollEnabled,
	}
	indexer, err := crawljobs.NewIndexer(store, c.Log, c.registry)
	if err != nil {
		return nil, err
	}
	services := []jobs.Service{crawler, indexer}
	engine, engineHealth, err := crawlElastic(c, store)
	if err != nil {
		return nil, err
	}
	services = append(services, engine...)
	if cfg.RedisEventsEnabled {
		services = append(services, crawljobs.NewEvents(store, c.Redis, hostname(), c.Log))
	}
	pages := crawlhandlers.Pages{Deps: deps}
	return &Crawl{Store: store, Crawler: crawler, deps: deps, pages: pages, System: System{
		Items: map[string]audit.Item{
			string(models.KindSource):     audit.ItemOf("source", store.Source, func(s crawl.Source) string { return s.Name }),
			string(models.KindJob):        audit.ItemOf("job", store.Job, func(j crawl.Job) string { return j.URL }),
			string(models.KindExecution):  audit.ItemOf("execution", store.Execution, func(e crawl.Execution) string { return e.JobID }),
			string(models.KindCrawled):    audit.ItemOf("crawled_page", store.CrawledPage, func(p crawl.Page) string { return p.URL }),
			string(models.KindDiscovered): audit.ItemOf("discovered_link", discoveredLink(store), func(l crawl.DiscoveredLink) string { return l.URL }),
			string(models.KindFrontier):   audit.ItemOf("frontier_entry", store.Entry, func(e crawl.FrontierEntry) string { return e.URL }),
			string(models.KindFeed):       audit.ItemOf("feed", store.Feed, func(f crawl.Feed) string { return f.URL }),
		},
		System: handlers.System{
			Name: "crawl",
			Nav:  crawlhandlers.Nav(), Overview: pages.Overview, Finders: pages.Finders(), Flash: pages.Flashes(), Routes: pages.Routes(),
			Described: crawlhandlers.Described(), Groups: crawlhandlers.Groups(), Operations: crawlhandlers.API{Deps: deps}.Register,
			Alias: crawlhandlers.Alias, Health: []middleware.HealthCheck{engineHealth, crawlhandlers.ArchiveCheck(kept.state)},
		},
		Demo:     demo.Crawls,
		Services: services,
		Last:     kept.services, // it stores what crawls found until they end
		Close:    kept.close,
		Jobs:     []jobs.Job{crawler.Feeds()},
		Events:   crawl.Events(),
		Deletes: []cleanup.Kind{ // sources last: those that still have jobs wait
			{Kind: "frontier", Label: "Frontier entries", Description: "of crawls that ended more than a day ago", Remove: store.ReapFrontier},
			{
				Kind: "job_executions", Label: "Crawl runs", Remove: store.ReapExecutions,
				Description: "older than 30 days or beyond the newest 100 of each job, with their logs",
			},
			{Kind: "discovered_links", Label: "Discovered links", Description: "deleted more than a day ago", Remove: store.ReapDiscoveredLinks},
			{Kind: "crawl_hosts", Label: "Crawled hosts", Description: "without requests for a week", Remove: store.ReapHosts},
			{Kind: "crawled_pages", Label: "Crawled pages", Description: "deleted more than a day ago, with their history", Remove: store.ReapPages},
			{
				Kind: "archived_pages", Label: "Archived copies", Remove: store.ReapArchive,
				Description: fmt.Sprintf("of page versions last fetched more than %s ago", ui.WholeUnits(cfg.CrawlerArchiveRetention)),
			},
			{Kind: "feed_entries", Label: "Feed entries", Description: "missing from their feed for 60 days", Remove: store.ReapFeedEntries},
			{Kind: "sources", Label: "Sources", Description: "deleted more than a day ago, with their jobs, pages and feeds", Remove: store.ReapSources},
		},
	}}, nil
}

// crawlWorkers is how many requests crawls make at a time.
func crawlWorkers(c *core) int { return 2 * c.Config.MaxConcurrency }

// crawlClient is what crawls fetch with: robots is nil if robots.txt is not asked.
func crawlClient(c *core) (client *outbound.Client, robots *outbound.Robots, err error) {
	cfg := c.Config
	client = c.outbound.Budget(crawlWorkers(c), 0)
	if cfg.CrawlerProxiesEnabled {
		var proxies []*url.URL
		for _, p := range cfg.CrawlerProxyURLs {
			u, err := url.Parse(string(p))
			if err != nil { // config has checked it
				return nil, nil, err
			}
			proxies = append(proxies, u)
		}
		client = outbound.New(outbound.Options{
			UserAgent: cfg.UserAgent(c.Version), AllowCIDRs: cfg.OutboundAllowCIDRs, Timeout: cfg.HTTPTimeout,
			MaxConcurrent: crawlWorkers(c), Proxies: proxies,
		})
	}
	if cfg.CrawlerRespectRobotsTxt {
		robots = outbound.NewRobots(client, outbound.RobotsOptions{Agent: agentToken(c)})
	}
	return client, robots, nil
}

// agentToken is the name by which robots.txt and pages address this program: the
// first part of the User-Agent.
func agentToken(c *core) string {
	token, _, _ := strings.Cut(c.Config.UserAgent(c.Version), "/")
	token, _, _ = strings.Cut(token, " ")
	return token
}

// crawlSync is what syncs enabled sources to jobs.
func crawlSync(c *core, store *crawl.Store) (func(context.Context) (crawl.SyncReport, error), error) {
	if c.Config.CrawlerSourcesAPIURL == "" {
		return store.SyncJobs, nil
	}
	u, err := url.Parse(string(c.Config.CrawlerSourcesAPIURL))
	if err != nil { // config has checked it
		return nil, err
	}
	client := outbound.New(outbound.Options{UserAgent: c.Config.UserAgent(c.Version), Timeout: c.Config.HTTPTimeout, MaxConcurrent: 1, Endpoint: u})
	m := &crawljobs.Manager{Client: client, URL: u.String(), Secret: string(c.Config.AuthJWTSecret)}
	return func(ctx context.Context) (crawl.SyncReport, error) { return m.Sync(ctx, store) }, nil
}

// hostname is the name of this machine: it stays the same when the program starts
// again.
func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "linkwatch"
	}
	return name
}

// discoveredLink returns a function that loads a discovered link.
func discoveredLink(store *crawl.Store) func(context.Context, string) (crawl.DiscoveredLink, error) {
	return func(ctx context.Context, id string) (crawl.DiscoveredLink, error) {
		found, err := store.DiscoveredLinksByID(ctx, id)
		if err == nil && len(found) == 0 {
			err = models.NotFound("discovered link")
		}
		if err != nil {
			return crawl.DiscoveredLink{}, err
		}
		return found[0], nil
	}
}
