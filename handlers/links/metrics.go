package links

import (
	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/handlers/middleware"
	"linkwatch/models"
)

// Metrics count views of links and attempts to save one.
type Metrics struct {
	views    prometheus.Counter
	creation *prometheus.CounterVec
}

// NewMetrics creates and registers the metrics.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		views: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "linkwatch_link_views_total", Help: "Total number of views of links.",
		}),
		creation: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "linkwatch_link_creation_attempts_total", Help: "Total number of attempts to save a link, by outcome.",
		}, []string{"outcome"}),
	}
	r.MustRegister(m.views, m.creation)
	return m
}

func (m *Metrics) viewed() { m.views.Inc() }

// added counts an attempt to save a link. The outcome is created, duplicate, or the code of the error.
func (m *Metrics) added(created bool, err error) {
	outcome := "duplicate"
	switch {
	case err != nil && models.CodeOf(err) != "":
		outcome = string(models.CodeOf(err))
	case err != nil:
		outcome = string(middleware.CodeInternal)
	case created:
		outcome = "created"
	}
	m.creation.WithLabelValues(outcome).Inc()
}
