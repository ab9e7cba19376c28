package elastic

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	documents   *prometheus.CounterVec // by outcome
	lastSuccess prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		documents: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "linkwatch_crawl_elasticsearch_documents_total", Help: "Total number of documents sent to the search engine, by outcome.",
		}, []string{"outcome"}),
		lastSuccess: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "linkwatch_crawl_elasticsearch_last_success_timestamp_seconds", Help: "Unix time when the search engine last accepted a whole batch. 0 if it has not since the start.",
		}),
	}
	for _, outcome := range []string{indexed, deleted, stale, refused, failed} {
		m.documents.WithLabelValues(outcome)
	}
	for _, c := range []prometheus.Collector{m.documents, m.lastSuccess} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}
