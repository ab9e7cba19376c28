package middleware

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics count requests by route, method and status. No label holds anything
// that a visitor chose.
type Metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
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
		method = "other" // a method may be any word
	}
	m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Inc()
	return route, method
}
