package shortlinks

import "linkwatch/handlers/middleware"

// RedisHealth is the health of Redis.
type RedisHealth struct {
	Status string `json:"status" enum:"ok,unavailable,off" doc:"Status. off if REDIS_URL is not set"`
}

// RedisCheck returns the health check of Redis. up reports whether Redis is in use; nil
// means that it is not configured. Redirects work without Redis.
func RedisCheck(up func() bool) middleware.HealthCheck {
	return middleware.HealthCheck{Name: "redis", Doc: "Health of Redis", State: func() (any, bool) {
		switch {
		case up == nil:
			return RedisHealth{"off"}, true
		case up():
			return RedisHealth{"ok"}, true
		}
		return RedisHealth{"unavailable"}, false
	}}
}
