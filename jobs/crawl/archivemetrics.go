package crawl

import "github.com/prometheus/client_golang/prometheus"

type archiveMetrics struct {
	copies      *prometheus.CounterVec // by outcome
	storedBytes prometheus.Counter
	deleted     prometheus.Counter
}

func newArchiveMetrics() archiveMetrics {
	m := archiveMetrics{
		copies: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "linkwatch_crawl_archive_copies_total", Help: "Total number of crawled pages given to the archive, by outcome.",
		}, []string{"outcome"}),
		storedBytes: prometheus.NewCounter(prometheus.CounterOpts{Name: "linkwatch_crawl_archive_stored_bytes_total", Help: "Total number of compressed bytes written to the archive."}),
		deleted:     prometheus.NewCounter(prometheus.CounterOpts{Name: "linkwatch_crawl_archive_deleted_total", Help: "Total number of packs deleted from the archive."}),
	}
	for _, outcome := range []string{"stored", "deduplicated", "dropped", "failed"} {
		m.copies.WithLabelValues(outcome) // exported as 0 before the first event
	}
	return m
}

func (m archiveMetrics) register(reg prometheus.Registerer, q *copyQueue) error {
	length := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "linkwatch_crawl_archive_queue_length", Help: "Number of crawled pages in the queue of the archive."},
		func() float64 { n, _ := q.size(); return float64(n) })
	bytes := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "linkwatch_crawl_archive_queue_bytes", Help: "Memory used by pages that are queued or being archived, in bytes."},
		func() float64 { _, n := q.size(); return float64(n) })
	for _, c := range []prometheus.Collector{m.copies, m.storedBytes, m.deleted, length, bytes} {
		if err := reg.Register(c); err != nil {
			return err
		}
	}
	return nil
}
