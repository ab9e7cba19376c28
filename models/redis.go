package models

import (
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

// Timeouts of Redis. They are short: without Redis the database is used.
const (
	redisDialTime = 250 * time.Millisecond
	redisTime     = 100 * time.Millisecond // for sending a command, for the reply and for a free connection
)

// OpenRedis returns a client for a redis:// or rediss:// URL (REDIS_URL). It connects on first use. It neither
// retries nor logs: callers handle errors.
func OpenRedis(url string) (*redis.Client, error) {
	opts, err := redis.ParseURL(url)
	if err != nil { // the error may contain the password
		return nil, errors.New("REDIS_URL must be redis://host or rediss://host, optionally followed by /, a database number and client options")
	}
	opts.DialTimeout, opts.ReadTimeout, opts.WriteTimeout, opts.PoolTimeout = redisDialTime, redisTime, redisTime, redisTime
	opts.MaxRetries, opts.DialerRetries = -1, 1
	logging.Disable() // it would write to stderr, and callers get the same errors
	return redis.NewClient(opts), nil
}
