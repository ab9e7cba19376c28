package jobs

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are what Prometheus sees of the runner. Their only labels are ids of
// jobs, which are the program's own.
type metrics struct {
	runs     *prometheus.CounterVec
	skips    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	running  *prometheus.GaugeVec
	failed   *prometheus.GaugeVec
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "linkwatch_job_runs_total", Help: "Runs of scheduled jobs that ended in this process.",
		}, []string{"job", "outcome"}),
		skips: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "linkwatch_job_overlap_skips_total", Help: "Times a scheduled job was due while it was still running.",
		}, []string{"job"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "linkwatch_job_duration_seconds", Help: "How long runs of scheduled jobs took.",
			Buckets: []float64{.01, .1, .5, 1, 5, 15, 60, 300, 900},
		}, []string{"job"}),
		running: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "linkwatch_job_running", Help: "1 while a scheduled job runs in this process.",
		}, []string{"job"}),
		failed: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "linkwatch_job_last_run_failed", Help: "1 if the last run of a scheduled job, on any instance, failed.",
		}, []string{"job"}),
	}
	for _, c := range []prometheus.Collector{m.runs, m.skips, m.duration, m.running, m.failed} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("registering the metrics of jobs: %w", err)
		}
	}
	return m, nil
}

// expect makes the series of a job, so that they are there with 0 before its first run.
func (m *metrics) expect(job string) {
	m.runs.WithLabelValues(job, "success")
	m.runs.WithLabelValues(job, "failure")
	m.skips.WithLabelValues(job)
	m.duration.WithLabelValues(job)
	m.running.WithLabelValues(job)
	m.failed.WithLabelValues(job)
}

// setFailed says whether the last run of a job failed.
func (m *metrics) setFailed(job string, failed bool) {
	value := 0.0
	if failed {
		value = 1
	}
	m.failed.WithLabelValues(job).Set(value)
}
