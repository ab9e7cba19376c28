package crawl

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"linkwatch/jobs"
	"linkwatch/jobs/dispatch"
	"linkwatch/models/crawl"
	"linkwatch/models/lease"
	"linkwatch/outbound"
)

// Options are the settings of the crawler.
type Options struct {
	Lease           *lease.Lease
	Client          *outbound.Client // allows at least Workers concurrent requests; the caller closes it
	Robots          *outbound.Robots // nil = robots.txt is ignored
	Workers         int              // concurrent requests
	PollInterval    time.Duration    // between two searches for due jobs (CRAWLER_POLL_INTERVAL)
	FollowRedirects bool             // false = redirects are stored as pages (FETCHER_FOLLOW_REDIRECTS)
	MaxRedirects    int              // per URL (FETCHER_MAX_REDIRECTS)
	RandomUserAgent bool             // CRAWLER_USE_RANDOM_USER_AGENT
	Readability     bool             // use go-readability for poor texts (CRAWLER_READABILITY_FALLBACK_ENABLED)
	Agent           string           // name of the crawler in robots.txt and robots meta tags
	FeedDiscovery   bool             // add feeds that start pages link to (CRAWLER_FEED_DISCOVERY_ENABLED)
	FeedPolling     bool             // CRAWLER_FEED_POLL_ENABLED
	Archive         func(Copy)       // receives each stored HTML page with status 200, must not block; nil = no archive
	Redis           *redis.Client    // receives the state of adaptive scheduling; nil = no Redis
	Log             *slog.Logger
	Registry        prometheus.Registerer
}

// Crawler is the Service that starts due jobs and crawls.
type Crawler struct {
	*jobs.Background
	store *crawl.Store
	opts  Options
	queue *queue

	mu      sync.Mutex
	metrics crawl.Metrics
}

// New returns a crawler. Its lease must be renewed by a Heartbeat. It fails if its metrics are
// already registered.
func New(store *crawl.Store, o Options) (*Crawler, error) {
	m, err := newMetrics(o.Registry)
	if err != nil {
		return nil, err
	}
	c := &Crawler{store: store, opts: o}
	c.queue = &queue{store: store, client: o.Client, robots: o.Robots, opts: o, log: o.Log, watch: newWatch(store.StillRunning), metrics: m}
	c.Background = jobs.NewBackground(c.run)
	return c, nil
}

// run crawls until taking is done. Then it finishes the current pages, and releases the jobs that
// this instance holds.
func (c *Crawler) run(taking, working context.Context) {
	c.queue.taking = taking
	c.warn(taking)
	s := &scheduler{Crawler: c, peaks: map[int64]int64{}}
	var both sync.WaitGroup
	watching, stop := context.WithCancel(working)
	both.Go(func() {
		c.queue.watch.run(watching, func(err error) { jobs.LogError(c.opts.Log, "find running crawls failed", err) })
	})
	both.Go(func() { s.run(taking) })
	d := dispatch.New(c.queue, dispatch.Options{
		Name: "crawl", Lease: c.opts.Lease, Workers: c.opts.Workers, Log: c.opts.Log, Metrics: c.queue.metrics.Metrics,
		MaxDelay: time.Minute, Wanted: c.store.URLsAdded(),
	})
	_ = d.Run(taking, working) // it returns an error only with Drain
	stop()
	both.Wait()
	s.release(working)
}

// maxDeepWarnings is the maximum number of warnings about deep sources at startup.
const maxDeepWarnings = 20

// warn logs settings that may overload sites.
func (c *Crawler) warn(ctx context.Context) {
	if c.opts.Robots == nil {
		c.opts.Log.Warn("robots.txt is ignored", "setting", "CRAWLER_RESPECT_ROBOTS_TXT")
	}
	deep, err := c.store.DeepSources(ctx, maxDeepWarnings)
	if err != nil && ctx.Err() == nil {
		jobs.LogError(c.opts.Log, "find deep sources failed", err)
	}
	for _, s := range deep {
		c.opts.Log.Warn("source has a large max_depth", "source_id", s.ID, "max_depth", s.MaxDepth, "recommended_max", crawl.DeepCrawl)
	}
}

// Metrics returns the metrics of the scheduler as last collected. They are at most 30 s old while
// the crawler runs.
func (c *Crawler) Metrics() crawl.Metrics {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.metrics
}
