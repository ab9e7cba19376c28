package targets

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"linkwatch/jobs/dispatch"
	"linkwatch/models/targets"
)

const (
	// maxProbes is the maximum number of targets in the metrics. It bounds the size of a
	// scrape.
	maxProbes = 10_000
	// scrapeTimeout bounds the time to read them.
	scrapeTimeout = 5 * time.Second
)

// metrics is the metrics of the checker. Labels are outcomes and ids of targets only, and
// never text from outside.
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
				Name: "linkwatch_check_queue_depth", Help: "Number of due targets in this process that wait for a worker or their host.",
			}),
			Running: prometheus.NewGauge(prometheus.GaugeOpts{
				Name: "linkwatch_checks_running", Help: "Number of check requests in progress.",
			}),
			Deferred: prometheus.NewCounter(prometheus.CounterOpts{
				Name: "linkwatch_checks_deferred_total", Help: "Total number of due checks that were deferred because their host was rate limited or had too many checks waiting.",
			}),
			Retries: prometheus.NewCounter(prometheus.CounterOpts{
				Name: "linkwatch_check_retries_total", Help: "Total number of check requests retried after a 5xx response, a network error or a timeout.",
			}),
		},
		checks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "linkwatch_checks_total", Help: "Total number of finished checks, by outcome.",
		}, []string{"outcome"}),
		lag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "linkwatch_check_lag_seconds", Help: "Delay between the due time and the start of checks in seconds.",
			Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 15, 60, 300},
		}),
		skipped: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "linkwatch_checks_skipped_total", Help: "Total number of checks skipped because the previous one started at least an interval late.",
		}),
	}
	for o := targets.UpOutcome; o <= targets.ThrottledOutcome; o++ {
		m.checks.WithLabelValues(o.String()) // exports 0 before the first check
	}
	for _, c := range []prometheus.Collector{
		m.checks, m.Waiting, m.Running, m.lag, m.Deferred, m.skipped, m.Retries, probes{store, log},
	} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("register check metrics: %w", err)
		}
	}
	return m, nil
}

// probes collects the last result of each shared target from the store at each scrape.
// All instances therefore export the same values, and none for deleted targets. Private
// targets are omitted because all accounts can read the metrics.
type probes struct {
	store *targets.Store
	log   *slog.Logger
}

var (
	targetLabel  = "target"
	probeSuccess = prometheus.NewDesc("probe_success", "Whether the target is up (1) or down (0).", []string{targetLabel}, nil)
	probeSeconds = prometheus.NewDesc("probe_duration_seconds", "Response time of the last check in seconds.", []string{targetLabel}, nil)
	probeStatus  = prometheus.NewDesc("probe_http_status_code", "HTTP status of the last response, 0 if there was none.", []string{targetLabel}, nil)
)

// sample is a value of a target.
type sample struct {
	desc  *prometheus.Desc
	label []*dto.LabelPair
	value float64
}

// Desc implements prometheus.Metric.
func (s sample) Desc() *prometheus.Desc { return s.desc }

// Write implements prometheus.Metric.
func (s sample) Write(to *dto.Metric) error {
	to.Label, to.Gauge = s.label, &dto.Gauge{Value: &s.value}
	return nil
}

// Describe implements prometheus.Collector.
func (probes) Describe(descs chan<- *prometheus.Desc) {
	descs <- probeSuccess
	descs <- probeSeconds
	descs <- probeStatus
}

// Collect implements prometheus.Collector. If the store fails, it logs a warning and the
// other metrics are still exported.
func (p probes) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout) // Collect has no context
	defer cancel()
	all, err := p.store.Probes(ctx, maxProbes)
	if err != nil {
		p.log.Warn("read targets for metrics failed", "error", err)
	}
	for _, t := range all {
		if t.State == targets.Pending { // resumed, and not checked since
			continue
		}
		up := 0.0
		if t.State == targets.Up {
			up = 1
		}
		// The samples of a target share their label. With MustNewConstMetric, each would have a copy.
		label := []*dto.LabelPair{{Name: &targetLabel, Value: &t.ID}}
		out <- sample{probeSuccess, label, up}
		out <- sample{probeSeconds, label, float64(t.LastLatencyMS) / 1000}
		out <- sample{probeStatus, label, float64(t.LastStatusCode)}
	}
}
