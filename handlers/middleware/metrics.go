package middleware

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the metrics of HTTP requests. Clients cannot create new label values.
type Metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
}

// NewMetrics registers the metrics.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "linkwatch_http_requests_total", Help: "Total number of HTTP requests, by route, method and status.",
		}, []string{"route", "method", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "linkwatch_http_request_duration_seconds", Help: "Duration of HTTP requests in seconds, by route and method.",
			Buckets: []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"route", "method"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "linkwatch_http_requests_in_flight", Help: "Number of HTTP requests in progress.",
		}),
	}
	r.MustRegister(m.requests, m.duration, m.inFlight)
	return m
}

func (m *Metrics) observe(method, route string, status int, took time.Duration) {
	route, method = m.count(method, route, status)
	m.duration.WithLabelValues(route, method).Observe(took.Seconds())
}

// count counts a request without its duration, and returns the labels of its route and method.
func (m *Metrics) count(method, route string, status int) (routeLabel, methodLabel string) {
	if route == "" {
		route = "unmatched"
	}
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
	default:
		method = "other" // clients can send any method
	}
	m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Inc()
	return route, method
}
