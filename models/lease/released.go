package lease

import "time"

// Released is a claimed item that is released and may be claimed again after a delay.
type Released[T any] struct {
	Item  T
	After time.Duration
}
