package lease

import "time"

// Expire makes the last renewal too old for new work to start.
func Expire(l *Lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = time.Now()
}
