package alerts

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/models/alerts"
)

type metrics struct {
	store      *alerts.Store
	deliveries *prometheus.CounterVec

	events, pending, oldest *prometheus.Desc
}

func newMetrics(store *alerts.Store, reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		store: store,
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "linkwatch_alert_deliveries_total", Help: "Total number of attempts to deliver alert messages, by outcome.",
		}, []string{"outcome"}),
		events:  prometheus.NewDesc("linkwatch_alert_events_pending", "Number of events that were not processed yet, up to 100,000.", nil, nil),
		pending: prometheus.NewDesc("linkwatch_alert_deliveries_pending", "Number of queued alert messages, up to 100,000.", nil, nil),
		oldest:  prometheus.NewDesc("linkwatch_alert_oldest_pending_seconds", "Age of the oldest queued alert message in seconds.", nil, nil),
	}
	for _, outcome := range []string{"delivered", "retried", "failed"} {
		m.deliveries.WithLabelValues(outcome)
	}
	for _, c := range []prometheus.Collector{m.deliveries, m} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("register alert metrics: %w", err)
		}
	}
	return m, nil
}

func (m *metrics) add(outcome string, n int) { m.deliveries.WithLabelValues(outcome).Add(float64(n)) }

// Describe implements prometheus.Collector.
func (m *metrics) Describe(to chan<- *prometheus.Desc) {
	to <- m.events
	to <- m.pending
	to <- m.oldest
}

// scrapeTime is the timeout of the query of a scrape.
const scrapeTime = 2 * time.Second

// Collect implements prometheus.Collector. If the database is unavailable, the gauges are missing.
func (m *metrics) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	b, err := m.store.Backlog(ctx)
	if err != nil {
		return
	}
	waited := 0.0
	if !b.Oldest.IsZero() {
		waited = max(0, m.store.Now().Sub(b.Oldest.Time).Seconds())
	}
	to <- prometheus.MustNewConstMetric(m.events, prometheus.GaugeValue, float64(b.Events))
	to <- prometheus.MustNewConstMetric(m.pending, prometheus.GaugeValue, float64(b.Pending))
	to <- prometheus.MustNewConstMetric(m.oldest, prometheus.GaugeValue, waited)
}
