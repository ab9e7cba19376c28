package middleware

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/models"
)

// Metrics are the figures of seed 001: requests by route, links viewed, and
// attempts to create one. No label holds anything that a visitor chose.
type Metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
	views    prometheus.Counter
	creation *prometheus.CounterVec
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "linkwatch_http_requests_total", Help: "Requests answered, by route, method and status.",
		}, []string{"route", "method", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "linkwatch_http_request_duration_seconds", Help: "Time to answer a request, by route and method.",
			Buckets: []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"route", "method"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "linkwatch_http_requests_in_flight", Help: "Requests being answered now.",
		}),
		views: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "linkwatch_link_views_total", Help: "Links looked at, which counts up their view count.",
		}),
		creation: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "linkwatch_link_creation_attempts_total", Help: "Attempts to save a link, by outcome.",
		}, []string{"outcome"}),
	}
	r.MustRegister(m.requests, m.duration, m.inFlight, m.views, m.creation)
	return m
}

// LinkViewed counts one view of a link.
func (m *Metrics) LinkViewed() { m.views.Inc() }

// LinkSaved counts one attempt to save a link, by what came of it: created,
// duplicate, the code of the error, or internal.
func (m *Metrics) LinkSaved(created bool, err error) {
	outcome := "duplicate"
	switch {
	case err != nil && models.CodeOf(err) != "":
		outcome = string(models.CodeOf(err))
	case err != nil:
		outcome = string(CodeInternal)
	case created:
		outcome = "created"
	}
	m.creation.WithLabelValues(outcome).Inc()
}

func (m *Metrics) observe(method, route string, status int, took time.Duration) {
	if route == "" {
		route = "unmatched"
	}
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
	default:
		method = "other" // a method may be any word
	}
	m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Inc()
	m.duration.WithLabelValues(route, method).Observe(took.Seconds())
}
