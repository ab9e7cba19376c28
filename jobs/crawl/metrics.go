package crawl

import (
	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/jobs/dispatch"
)

// metrics are what Prometheus sees of the crawler.
type metrics struct {
	dispatch.Metrics
	fetches     *prometheus.CounterVec // by outcome
	executions  *prometheus.CounterVec // by how they ended
	polls       *prometheus.CounterVec // of feeds, by outcome
	feedEntries prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		Metrics:     dispatch.NewMetrics(),
		fetches:     prometheus.NewCounterVec(prometheus.CounterOpts{Name: "linkwatch_crawl_fetches_total", Help: "URLs that crawls fetched, by outcome."}, []string{"outcome"}),
		executions:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "linkwatch_crawl_executions_total", Help: "Executions of crawl jobs, by how they ended."}, []string{"end"}),
		polls:       prometheus.NewCounterVec(prometheus.CounterOpts{Name: "linkwatch_crawl_feed_polls_total", Help: "Polls of feeds, by outcome."}, []string{"outcome"}),
		feedEntries: prometheus.NewCounter(prometheus.CounterOpts{Name: "linkwatch_crawl_feed_entries_total", Help: "Entries of feeds that were new, and that the frontier got."}),
	}
	m.Running = prometheus.NewGauge(prometheus.GaugeOpts{Name: "linkwatch_crawl_requests_running", Help: "Requests of crawls that are under way."})
	m.Waiting = prometheus.NewGauge(prometheus.GaugeOpts{Name: "linkwatch_crawl_hosts_waiting", Help: "Hosts that wait for a worker."})
	for _, c := range []prometheus.Collector{m.fetches, m.executions, m.polls, m.feedEntries, m.Running, m.Waiting} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}
