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

// NewMetrics makes the metrics and registers them.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		views: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "linkwatch_link_views_total", Help: "Links looked at, which counts up their view count.",
		}),
		creation: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "linkwatch_link_creation_attempts_total", Help: "Attempts to save a link, by outcome.",
		}, []string{"outcome"}),
	}
	r.MustRegister(m.views, m.creation)
	return m
}

// viewed counts one view of a link.
func (m *Metrics) viewed() { m.views.Inc() }

// added counts one attempt to save a link, by what came of it: created,
// duplicate, the code of the error, or internal.
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
