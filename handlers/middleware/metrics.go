package middleware

import (
	"maps"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the metrics of HTTP requests. Clients cannot create new label values.
type Metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge

	adding sync.Mutex
	found  atomic.Pointer[map[outcome]series] // copied when one is added
}

// outcome is what the metrics distinguish.
type outcome struct {
	method, route string
	status        int
	timed         bool // the duration is observed
}

// series are the metrics of an outcome. To look them up by their labels takes longer than to count.
type series struct {
	requests prometheus.Counter
	duration prometheus.Observer // nil = none
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
	m.found.Store(&map[outcome]series{})
	return m
}

// observe counts a request and, unless it is a stream, observes its duration.
func (m *Metrics) observe(method, route string, status int, took time.Duration, stream bool) {
	if route == "" {
		route = "unmatched"
	}
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
	default:
		method = "other" // clients can send any method
	}
	o := outcome{method, route, status, !stream}
	s, ok := (*m.found.Load())[o]
	if !ok {
		s = m.add(o)
	}
	s.requests.Inc()
	if s.duration != nil {
		s.duration.Observe(took.Seconds())
	}
}

// add finds the metrics of an outcome. There are few outcomes, because clients cannot create routes or statuses.
func (m *Metrics) add(o outcome) series {
	m.adding.Lock()
	defer m.adding.Unlock()
	s := series{requests: m.requests.WithLabelValues(o.route, o.method, strconv.Itoa(o.status))}
	if o.timed {
		s.duration = m.duration.WithLabelValues(o.route, o.method)
	}
	found := maps.Clone(*m.found.Load())
	found[o] = s
	m.found.Store(&found)
	return s
}
