package targets

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
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

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		Metrics: dispatch.Metrics{
			Waiting: prometheus.NewGauge(prometheus.GaugeOpts{
				Name: "linkwatch_check_queue_depth", Help: "Number of due targets in this process that wait for a worker or their host.",
			}),
			Running: prometheus.NewGauge(prometheus.GaugeOpts{
				Name: "linkwatch_checks_running", Help: "Number of check requests in progress.",
			}),
			Deferred: prometheus.NewCounter(prometheus.CounterOpts{
				Name: "linkwatch_checks_deferred_total", Help: "Total number of due checks that were deferred because their host had too many checks waiting.",
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
		m.checks, m.Waiting, m.Running, m.lag, m.Deferred, m.skipped, m.Retries,
	} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("register check metrics: %w", err)
		}
	}
	return m, nil
}

// Probes gathers the last result of each shared target from the store at each scrape, and how late checks are. All
// instances therefore export the same values, and none for deleted targets. Results of private targets are omitted because
// all accounts can read the metrics.
type Probes struct {
	Store *targets.Store
	Log   *slog.Logger
}

// probeMetrics are the metrics of a target, in the order of targetSamples.all.
var probeMetrics = [...]struct{ name, help string }{
	{"probe_duration_seconds", "Response time of the last check in seconds."},
	{"probe_http_status_code", "HTTP status of the last response, 0 if there was none."},
	{"probe_success", "Whether the target is up (1) or down (0)."},
}

// targetSamples holds the samples of a target, in one allocation.
type targetSamples struct {
	label  dto.LabelPair
	labels [1]*dto.LabelPair
	all    [len(probeMetrics)]struct {
		metric dto.Metric
		gauge  dto.Gauge
		value  float64
	}
}

var targetLabel = "target"

// Gather implements prometheus.Gatherer. A registry would check each sample and sort them, which takes four times as long.
// If the store fails, Gather logs a warning and returns nothing, so that the other metrics are still exported.
func (p Probes) Gather() ([]*dto.MetricFamily, error) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout) // Gather has no context
	defer cancel()
	all, err := p.Store.Probes(ctx, maxProbes)
	if err != nil {
		p.Log.Warn("read targets for metrics failed", "error", err)
	}
	families := make([]*dto.MetricFamily, len(probeMetrics))
	for i := range families {
		families[i] = &dto.MetricFamily{Name: &probeMetrics[i].name, Help: &probeMetrics[i].help, Type: dto.MetricType_GAUGE.Enum(), Metric: make([]*dto.Metric, 0, len(all))}
	}
	for _, t := range all {
		if t.State == targets.Pending { // resumed, and not checked since
			continue
		}
		up := 0.0
		if t.State == targets.Up {
			up = 1
		}
		samples := &targetSamples{}
		samples.label.Name, samples.label.Value = &targetLabel, &t.ID
		samples.labels[0] = &samples.label
		for i, value := range [...]float64{float64(t.LastLatencyMS) / 1000, float64(t.LastStatusCode), up} {
			s := &samples.all[i]
			s.value = value
			s.gauge.Value = &s.value
			s.metric.Label, s.metric.Gauge = samples.labels[:], &s.gauge
			families[i].Metric = append(families[i].Metric, &s.metric)
		}
	}
	families = slices.DeleteFunc(families, func(f *dto.MetricFamily) bool { return len(f.Metric) == 0 })
	return slices.Concat(families, p.lateness(ctx)), nil
}

// lateness returns the metrics of targets that wait for a check.
func (p Probes) lateness(ctx context.Context) []*dto.MetricFamily {
	n, longest, err := p.Store.Lateness(ctx)
	if err != nil {
		p.Log.Warn("count late targets for metrics failed", "error", err)
		return nil
	}
	gauge := func(name, help string, value float64) *dto.MetricFamily {
		return &dto.MetricFamily{
			Name: &name, Help: &help, Type: dto.MetricType_GAUGE.Enum(), Metric: []*dto.Metric{{Gauge: &dto.Gauge{Value: &value}}},
		}
	}
	return []*dto.MetricFamily{
		gauge("linkwatch_targets_late", "Number of targets whose check is due and waits for other checks.", float64(n)),
		gauge("linkwatch_target_lateness_seconds", "How long the target that is late the most has waited, in seconds.", longest.Seconds()),
	}
}
