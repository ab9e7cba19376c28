package shortlinks

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/models/shortlinks"
	"linkwatch/models/shortlinks/cache"
	"linkwatch/models/shortlinks/visits"
)

// register registers the metrics. The only label is the cache tier, never a key or a URL.
func register(reg prometheus.Registerer, store *shortlinks.Store, counts *visits.Counter, memory *cache.Memory, shared *cache.Shared) error {
	all := []prometheus.Collector{
		tier("memory", "hits", "hits", memory.Hits),
		tier("memory", "misses", "misses", memory.Misses),
		gauge("linkwatch_shortlink_cache_entries", "Number of entries in the memory cache, including unknown keys.",
			func() int64 { return int64(memory.Len()) }),
		counter("linkwatch_shortlink_loads_total", "Total number of destinations read from the database.", nil, store.Loads),
		counter("linkwatch_shortlink_visits_written_total", "Total number of visits, bots and previews stored.", nil, counts.Written),
		counter("linkwatch_shortlink_visits_dropped_total", "Total number of visits, bots and previews dropped because the queue was full.", nil, counts.Dropped),
		gauge("linkwatch_shortlink_visits_waiting", "Number of visits, bots and previews that are not stored yet.", counts.Waiting),
	}
	if shared != nil {
		all = append(all,
			tier("redis", "hits", "hits", shared.Hits),
			tier("redis", "misses", "misses", shared.Misses),
			counter("linkwatch_redis_errors_total", "Total number of Redis errors, including failed connection attempts.", nil, shared.Errors),
			gauge("linkwatch_redis_up", "Whether Redis is in use (1) or not (0).", func() int64 {
				if shared.Up() {
					return 1
				}
				return 0
			}),
		)
	}
	for _, c := range all {
		if err := reg.Register(c); err != nil {
			return fmt.Errorf("register metrics of short links: %w", err)
		}
	}
	return nil
}

func tier(name, what, help string, value func() int64) prometheus.Collector {
	return counter("linkwatch_shortlink_cache_"+what+"_total", "Total number of cache "+help+" of short links, by tier.",
		prometheus.Labels{"tier": name}, value)
}

func counter(name, help string, labels prometheus.Labels, value func() int64) prometheus.Collector {
	return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels}, func() float64 { return float64(value()) })
}

func gauge(name, help string, value func() int64) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(value()) })
}
