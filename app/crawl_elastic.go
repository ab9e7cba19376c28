package app

import (
	"net/url"
	"time"

	crawlhandlers "linkwatch/handlers/crawl"
	"linkwatch/handlers/middleware"
	"linkwatch/jobs"
	"linkwatch/jobs/crawl/elastic"
	"linkwatch/models"
	"linkwatch/outbound"
)

// elasticTimeout is that of a request to the search engine, which may have to create
// an index or write 5 MB.
const elasticTimeout = 30 * time.Second

// crawlElastic is what sends crawled pages to the search engine, and its health
// check. Without CRAWLER_ELASTICSEARCH_URL there is no service.
func crawlElastic(c *core, store elastic.Store) (services []jobs.Service, check middleware.HealthCheck, err error) {
	if c.Config.CrawlerElasticsearchURL == "" {
		return nil, crawlhandlers.ElasticsearchCheck(nil), nil
	}
	address := string(c.Config.CrawlerElasticsearchURL)
	endpoint, err := url.Parse(address)
	if err != nil { // config has checked it
		return nil, check, err
	}
	s, err := elastic.New(store, elastic.Options{
		URL: address, APIKey: string(c.Config.CrawlerElasticsearchAPIKey),
		Client: outbound.NewService(outbound.Options{Endpoint: endpoint, Timeout: elasticTimeout, MaxConcurrent: 1}),
		Clock:  c.Clock, Log: c.Log, Registry: c.registry,
	})
	if err != nil {
		return nil, check, err
	}
	check = crawlhandlers.ElasticsearchCheck(func() (string, models.Time) {
		status := s.Status()
		return status.Detail, status.Since
	})
	return []jobs.Service{s}, check, nil
}
