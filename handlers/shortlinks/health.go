package shortlinks

import "linkwatch/handlers/middleware"

// RedisHealth is the state of Redis.
type RedisHealth struct {
	Status string `json:"status" enum:"ok,unavailable,off" doc:"Whether Redis can be used. off if REDIS_URL is not set"`
}

// RedisCheck tells how Redis is. up says whether it is in use; nil = it is not
// set up. Short links are served without it.
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
