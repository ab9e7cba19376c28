package jobs

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

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
			Name: "linkwatch_job_runs_total", Help: "Total number of finished runs of scheduled jobs, by outcome.",
		}, []string{"job", "outcome"}),
		skips: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "linkwatch_job_overlap_skips_total", Help: "Total number of runs skipped because the scheduled job was still running.",
		}, []string{"job"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "linkwatch_job_duration_seconds", Help: "Duration of runs of scheduled jobs in seconds.",
			Buckets: []float64{.01, .1, .5, 1, 5, 15, 60, 300, 900},
		}, []string{"job"}),
		running: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "linkwatch_job_running", Help: "Whether the scheduled job is running in this process (1) or not (0).",
		}, []string{"job"}),
		failed: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "linkwatch_job_last_run_failed", Help: "Whether the last run of the scheduled job failed on any instance (1) or not (0).",
		}, []string{"job"}),
	}
	for _, c := range []prometheus.Collector{m.runs, m.skips, m.duration, m.running, m.failed} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("register job metrics: %w", err)
		}
	}
	return m, nil
}

// expect creates the series of a job, so that they exist with value 0 before its first run.
func (m *metrics) expect(job string) {
	m.runs.WithLabelValues(job, "success")
	m.runs.WithLabelValues(job, "failure")
	m.skips.WithLabelValues(job)
	m.duration.WithLabelValues(job)
	m.running.WithLabelValues(job)
	m.failed.WithLabelValues(job)
}

func (m *metrics) setFailed(job string, failed bool) {
	value := 0.0
	if failed {
		value = 1
	}
	m.failed.WithLabelValues(job).Set(value)
}
