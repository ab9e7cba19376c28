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
	}
	for _, c := range []prometheus.Collector{m.runs, m.skips, m.duration, m.running} {
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
}
