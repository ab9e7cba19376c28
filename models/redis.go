package models

import (
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

// The patience with Redis: it is quick, or it is not worth waiting for.
const (
	redisDialTime = 250 * time.Millisecond
	redisTime     = 100 * time.Millisecond // for sending a command, for its answer, and for a free connection
)

// OpenRedis makes a client of the Redis that a redis:// or rediss:// URL
// (REDIS_URL) names. It connects when it is first used. Whoever uses it deals
// with its failing: nothing is tried again, and nothing is logged.
func OpenRedis(url string) (*redis.Client, error) {
	opts, err := redis.ParseURL(url)
	if err != nil { // which may hold the password
		return nil, errors.New("REDIS_URL: must be redis:// or rediss:// with a host, and after it no more than /, the number of a database, and options of the client")
	}
	opts.DialTimeout, opts.ReadTimeout, opts.WriteTimeout, opts.PoolTimeout = redisDialTime, redisTime, redisTime, redisTime
	opts.MaxRetries, opts.DialerRetries = -1, 1
	logging.Disable() // it writes to stderr past our log, and of what the callers are told anyway
	return redis.NewClient(opts), nil
}
