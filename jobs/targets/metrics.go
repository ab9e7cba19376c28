package targets

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/jobs/dispatch"
	"linkwatch/models/targets"
)

const (
	// maxProbes is of how many targets the metrics tell, so that a scrape stays
	// within what Prometheus takes.
	maxProbes = 10_000
	// scrapeTime is for reading them.
	scrapeTime = 5 * time.Second
)

// metrics are what Prometheus sees of the checker. Their labels hold outcomes
// and the ids of targets, nothing that somebody else wrote.
type metrics struct {
	dispatch.Metrics
	checks  *prometheus.CounterVec
	lag     prometheus.Histogram
	skipped prometheus.Counter
}

func newMetrics(reg prometheus.Registerer, store *targets.Store, log *slog.Logger) (*metrics, error) {
	m := &metrics{
		Metrics: dispatch.Metrics{
			Waiting: prometheus.NewGauge(prometheus.GaugeOpts{
				Name: "linkwatch_check_queue_depth", Help: "Due targets that wait in this process for a worker or for their host.",
			}),
			Running: prometheus.NewGauge(prometheus.GaugeOpts{
				Name: "linkwatch_checks_running", Help: "Requests of checks that are under way.",
			}),
			Deferred: prometheus.NewCounter(prometheus.CounterOpts{
				Name: "linkwatch_checks_deferred_total", Help: "Due checks that were put off: their host asked for a pause, or too many waited for it.",
			}),
			Retries: prometheus.NewCounter(prometheus.CounterOpts{
				Name: "linkwatch_check_retries_total", Help: "Requests that were made again after a 5xx, a network error or a timeout.",
			}),
		},
		checks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "linkwatch_checks_total", Help: "Checks of targets that this process finished.",
		}, []string{"outcome"}),
		lag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "linkwatch_check_lag_seconds", Help: "How long checks were due when they began.",
			Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 15, 60, 300},
		}),
		skipped: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "linkwatch_checks_skipped_total", Help: "Checks that were left out, because the one before began a whole interval late.",
		}),
	}
	for o := targets.UpOutcome; o <= targets.ThrottledOutcome; o++ {
		m.checks.WithLabelValues(o.String()) // there with 0 before the first
	}
	for _, c := range []prometheus.Collector{
		m.checks, m.Waiting, m.Running, m.lag, m.Deferred, m.skipped, m.Retries, probes{store, log},
	} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("registering the metrics of checks: %w", err)
		}
	}
	return m, nil
}

// probes tells how each shared target did in its last check, as the store has it when
// it is asked. Private targets are left out: all accounts can read the metrics. So several instances tell the same, and of a deleted target nothing is left.
type probes struct {
	store *targets.Store
	log   *slog.Logger
}

var (
	probeSuccess = prometheus.NewDesc("probe_success", "Whether the target is up: 1 or 0.", []string{"target"}, nil)
	probeSeconds = prometheus.NewDesc("probe_duration_seconds", "How long the target's last answer took to begin.", []string{"target"}, nil)
	probeStatus  = prometheus.NewDesc("probe_http_status_code", "Status of the target's last answer, 0 if there was none.", []string{"target"}, nil)
)

// Describe implements prometheus.Collector.
func (probes) Describe(descs chan<- *prometheus.Desc) {
	descs <- probeSuccess
	descs <- probeSeconds
	descs <- probeStatus
}

// Collect implements prometheus.Collector. If the store does not answer, the
// other metrics are told all the same.
func (p probes) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime) // a Collector is given no context
	defer cancel()
	err := p.store.Probes(ctx, maxProbes, func(t targets.Target) {
		if t.State == targets.Pending { // resumed, and not checked since
			return
		}
		up := 0.0
		if t.State == targets.Up {
			up = 1
		}
		for desc, value := range map[*prometheus.Desc]float64{
			probeSuccess: up, probeSeconds: float64(t.LastLatencyMS) / 1000, probeStatus: float64(t.LastStatusCode),
		} {
			out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, t.ID)
		}
	})
	if err != nil {
		p.log.Warn("reading targets for the metrics", "error", err)
	}
}
