package elastic

import "github.com/prometheus/client_golang/prometheus"

// metrics are what Prometheus sees of the service.
type metrics struct {
	documents   *prometheus.CounterVec // by outcome
	lastSuccess prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		documents: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "linkwatch_crawl_elasticsearch_documents_total", Help: "Documents sent to the search engine, by outcome. A document that failed is sent again.",
		}, []string{"outcome"}),
		lastSuccess: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "linkwatch_crawl_elasticsearch_last_success_timestamp_seconds", Help: "When the search engine last took all documents of a batch. 0 if it has not since the start.",
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
