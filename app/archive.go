package app

import (
	"fmt"
	"net/url"

	crawlhandlers "linkwatch/handlers/crawl"
	"linkwatch/jobs"
	crawljobs "linkwatch/jobs/crawl"
	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/crawl/archive"
	"linkwatch/outbound"
)

// archiveRequests is the maximum number of concurrent requests to an object store.
const archiveRequests = 16

// openArchive opens the archive of crawled pages; nil if none is configured. It sends no request to an object store.
func openArchive(c *core) (*archive.Archive, error) {
	cfg := c.Config
	setting := "CRAWLER_ARCHIVE_URL"
	var l archive.Location
	var err error
	switch {
	case cfg.CrawlerMinIOEnabled:
		setting = "CRAWLER_MINIO_ENDPOINT"
		l = archive.Location{Bucket: cfg.CrawlerMinIOBucket, AccessKey: string(cfg.CrawlerMinIOAccessKey), SecretKey: string(cfg.CrawlerMinIOSecretKey)}
		l.Endpoint, err = url.Parse(cfg.CrawlerMinIOEndpoint)
	case cfg.CrawlerArchiveURL != "":
		l, err = archive.ParseLocation(string(cfg.CrawlerArchiveURL))
	default:
		return nil, nil
	}
	if err != nil { // cannot happen: config has validated it
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	client := outbound.NewService(outbound.Options{
		Endpoint: l.Endpoint, AllowCIDRs: cfg.OutboundAllowCIDRs, Timeout: archive.Timeout, MaxConcurrent: archiveRequests,
	})
	a, err := archive.Open(l, archive.Options{Client: client})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	return a, nil
}

// archived holds the parts of the archive that the crawl system uses. All are nil without an archive.
type archived struct {
	add      func(crawljobs.Copy)
	reader   crawlhandlers.Archive
	state    func() (detail string, since models.Time)
	services []jobs.Service
	close    func()
}

// newArchived opens the archive and creates the service that stores pages in it.
func newArchived(c *core, store *crawl.Store) (archived, error) {
	a, err := openArchive(c)
	if err != nil || a == nil {
		return archived{}, err
	}
	archiver, err := crawljobs.NewArchiver(store, crawljobs.ArchiverOptions{Archive: a, Log: c.Log, Registry: c.registry})
	if err != nil {
		a.Close()
		return archived{}, err
	}
	return archived{archiver.Add, a, archiver.State, []jobs.Service{archiver}, a.Close}, nil
}
