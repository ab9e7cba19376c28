package shortlinks

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/models/shortlinks"
	"linkwatch/models/shortlinks/cache"
	"linkwatch/models/shortlinks/visits"
)

// register registers the metrics of the cache and of visits. The only label is the
// tier of the cache, never a key or an address.
func register(reg prometheus.Registerer, store *shortlinks.Store, counts *visits.Counter, memory *cache.Memory, shared *cache.Shared) error {
	all := []prometheus.Collector{
		tier("memory", "hits", "found", memory.Hits),
		tier("memory", "misses", "not found", memory.Misses),
		gauge("linkwatch_shortlink_cache_entries", "Entries in the memory of this process, those of unknown keys included.",
			func() int64 { return int64(memory.Len()) }),
		counter("linkwatch_shortlink_loads_total", "Destinations read from the database.", nil, store.Loads),
		counter("linkwatch_shortlink_visits_written_total", "Visits that this process stored.", nil, counts.Written),
		counter("linkwatch_shortlink_visits_dropped_total", "Visits that are not counted, because too many were waiting.", nil, counts.Dropped),
		gauge("linkwatch_shortlink_visits_waiting", "Visits that are not stored yet.", counts.Waiting),
	}
	if shared != nil {
		all = append(all,
			tier("redis", "hits", "found", shared.Hits),
			tier("redis", "misses", "not found", shared.Misses),
			counter("linkwatch_redis_errors_total", "Failures of Redis, failed attempts to connect included.", nil, shared.Errors),
			gauge("linkwatch_redis_up", "Whether Redis is in use: 1 or 0.", func() int64 {
				if shared.Up() {
					return 1
				}
				return 0
			}),
		)
	}
	for _, c := range all {
		if err := reg.Register(c); err != nil {
			return fmt.Errorf("registering the metrics of short links: %w", err)
		}
	}
	return nil
}

func tier(name, what, help string, value func() int64) prometheus.Collector {
	return counter("linkwatch_shortlink_cache_"+what+"_total", "Entries of short links "+help+", by tier of the cache.",
		prometheus.Labels{"tier": name}, value)
}

func counter(name, help string, labels prometheus.Labels, value func() int64) prometheus.Collector {
	return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels}, func() float64 { return float64(value()) })
}

func gauge(name, help string, value func() int64) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(value()) })
}
