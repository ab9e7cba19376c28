package crawl

import (
	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/jobs/dispatch"
)

type metrics struct {
	dispatch.Metrics
	fetches     *prometheus.CounterVec // by outcome
	executions  *prometheus.CounterVec // by end
	polls       *prometheus.CounterVec // of feeds, by outcome
	feedEntries prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		Metrics:     dispatch.NewMetrics(),
		fetches:     prometheus.NewCounterVec(prometheus.CounterOpts{Name: "linkwatch_crawl_fetches_total", Help: "Total number of URLs fetched by crawls, by outcome."}, []string{"outcome"}),
		executions:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "linkwatch_crawl_executions_total", Help: "Total number of ended executions of crawl jobs, by end."}, []string{"end"}),
		polls:       prometheus.NewCounterVec(prometheus.CounterOpts{Name: "linkwatch_crawl_feed_polls_total", Help: "Total number of feed polls, by outcome."}, []string{"outcome"}),
		feedEntries: prometheus.NewCounter(prometheus.CounterOpts{Name: "linkwatch_crawl_feed_entries_total", Help: "Total number of new feed entries added to the frontier."}),
	}
	m.Running = prometheus.NewGauge(prometheus.GaugeOpts{Name: "linkwatch_crawl_requests_running", Help: "Number of running crawl requests."})
	m.Waiting = prometheus.NewGauge(prometheus.GaugeOpts{Name: "linkwatch_crawl_hosts_waiting", Help: "Number of hosts waiting for a worker."})
	for _, c := range []prometheus.Collector{m.fetches, m.executions, m.polls, m.feedEntries, m.Running, m.Waiting} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}
