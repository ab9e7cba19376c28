package modelstest

import (
	"sync"
	"time"
)

// Clock is a clock that only Advance moves. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that shows noon on an ordinary day.
func NewClock() *Clock {
	return &Clock{now: time.Date(2026, 3, 24, 12, 0, 0, 0, time.UTC)}
}

// Now returns the clock's time. Its method value is a models.Clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
