package alerts

import (
	"golang.org/x/time/rate"

	"linkwatch/models/alerts"
)

// LimiterOf is the rate limit of a channel.
func (w *Worker) LimiterOf(c alerts.Channel) *rate.Limiter { return w.limiterOf(c) }
