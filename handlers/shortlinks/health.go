package shortlinks

import "linkwatch/handlers/middleware"

// RedisHealth is the health of Redis.
type RedisHealth struct {
	Status string  `json:"status" enum:"ok,unavailable,off" doc:"Status. off if REDIS_URL is not set"`
	Detail *string `json:"detail" example:"Redis requires a password. Add it to REDIS_URL." doc:"Why Redis is unavailable. null if it is available or off"`
}

// RedisCheck returns the health check of Redis. state reports whether Redis is in use, or else why not; nil means that
// it is not configured. Redirects work without Redis.
func RedisCheck(state func() (up bool, reason string)) middleware.HealthCheck {
	return middleware.HealthCheck{Name: "redis", Doc: "Health of Redis", State: func() (any, bool) {
		if state == nil {
			return RedisHealth{Status: "off"}, true
		}
		up, reason := state()
		if up {
			return RedisHealth{Status: "ok"}, true
		}
		return RedisHealth{"unavailable", &reason}, false
	}}
}
