package alerts

import (
	"golang.org/x/time/rate"

	"linkwatch/models/alerts"
)

// LimiterOf returns the rate limiter of a channel.
func (w *Worker) LimiterOf(c alerts.Channel) *rate.Limiter { return w.limiterOf(c) }
