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
	Client          *outbound.Client // has room for Workers requests; stays the caller's to close
	Robots          *outbound.Robots // nil: robots.txt is not asked
	Workers         int              // requests at a time
	PollInterval    time.Duration    // between two looks for due jobs (CRAWLER_POLL_INTERVAL)
	FollowRedirects bool             // else a redirect is stored as a page (FETCHER_FOLLOW_REDIRECTS)
	MaxRedirects    int              // on the way to a page (FETCHER_MAX_REDIRECTS)
	RandomUserAgent bool             // CRAWLER_USE_RANDOM_USER_AGENT
	Readability     bool             // the last resort for the text of a page (CRAWLER_READABILITY_FALLBACK_ENABLED)
	Agent           string           // the name by which pages address this crawler
	FeedDiscovery   bool             // start pages add the feeds that they name (CRAWLER_FEED_DISCOVERY_ENABLED)
	FeedPolling     bool             // CRAWLER_FEED_POLL_ENABLED
	Archive         func(Copy)       // gets each HTML page with status 200 that is stored, and never blocks; nil = there is no archive
	Redis           *redis.Client    // gets the state of adaptive scheduling; nil = there is none
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

// New makes the crawler, under a lease that a Heartbeat keeps. It fails if the
// registry has metrics of these names.
func New(store *crawl.Store, o Options) (*Crawler, error) {
	m, err := newMetrics(o.Registry)
	if err != nil {
		return nil, err
	}
	c := &Crawler{store: store, opts: o}
	c.queue = &queue{store: store, client: o.Client, robots: o.Robots, opts: o, log: o.Log, watch: newWatch(store.RunningCrawls), metrics: m}
	c.Background = jobs.NewBackground(c.run)
	return c, nil
}

// run crawls until taking ends. Then the turns under way end at a page, and last the
// jobs that this instance holds are released, with their frontier.
func (c *Crawler) run(taking, working context.Context) {
	c.queue.taking = taking
	c.warn(taking)
	s := &scheduler{Crawler: c, peaks: map[int64]int64{}}
	var both sync.WaitGroup
	watching, stop := context.WithCancel(working)
	both.Go(func() {
		c.queue.watch.run(watching, func(err error) { jobs.LogError(c.opts.Log, "looking for running crawls failed", err) })
	})
	both.Go(func() { s.run(taking) })
	d := dispatch.New(c.queue, dispatch.Options{
		Name: "crawl", Lease: c.opts.Lease, Workers: c.opts.Workers, Log: c.opts.Log, Metrics: c.queue.metrics.Metrics,
		MaxPutOff: time.Minute, Wanted: c.store.URLsWanted(),
	})
	_ = d.Run(taking, working) // it has an error only if it drains
	stop()
	both.Wait()
	s.release(working)
}

// warned is how many sources are named when the crawler starts.
const warned = 20

// warn says at the start what may surprise the owners of sites.
func (c *Crawler) warn(ctx context.Context) {
	if c.opts.Robots == nil {
		c.opts.Log.Warn("robots.txt is not respected", "setting", "CRAWLER_RESPECT_ROBOTS_TXT")
	}
	deep, err := c.store.DeepSources(ctx, warned)
	if err != nil && ctx.Err() == nil {
		jobs.LogError(c.opts.Log, "looking for deep sources failed", err)
	}
	for _, s := range deep {
		c.opts.Log.Warn("source is crawled deeply", "source_id", s.ID, "max_depth", s.MaxDepth, "advised", crawl.DeepCrawl)
	}
}

// Metrics are the figures of the scheduler as they were collected last. They are at
// most 30 s old while the crawler runs.
func (c *Crawler) Metrics() crawl.Metrics {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.metrics
}
