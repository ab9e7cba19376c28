package lease

import "time"

// Released is a claimed item that is given back, to be claimed again after a time.
type Released[T any] struct {
	Item  T
	After time.Duration
}
