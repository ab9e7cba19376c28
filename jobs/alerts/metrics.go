package alerts

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/models/alerts"
)

// metrics count messages, and show what waits.
type metrics struct {
	store      *alerts.Store
	deliveries *prometheus.CounterVec

	events, pending, oldest *prometheus.Desc
}

func newMetrics(store *alerts.Store, reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		store: store,
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "linkwatch_alert_deliveries_total", Help: "Messages of alerts that this process sent, by outcome.",
		}, []string{"outcome"}),
		events:  prometheus.NewDesc("linkwatch_alert_events_pending", "Events that are not alerts yet, up to 100,000.", nil, nil),
		pending: prometheus.NewDesc("linkwatch_alert_deliveries_pending", "Messages of alerts that wait to be sent, up to 100,000.", nil, nil),
		oldest:  prometheus.NewDesc("linkwatch_alert_oldest_pending_seconds", "How long the oldest of them has waited.", nil, nil),
	}
	for _, outcome := range []string{"delivered", "retried", "failed"} {
		m.deliveries.WithLabelValues(outcome)
	}
	for _, c := range []prometheus.Collector{m.deliveries, m} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("registering the metrics of alerts: %w", err)
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

// scrapeTime is how long a scrape waits for the database.
const scrapeTime = 2 * time.Second

// Collect implements prometheus.Collector. Without the database these metrics are missing.
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
