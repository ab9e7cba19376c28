package archive

import "time"

// SetPause sets the time before the second attempt of an operation.
func (a *Archive) SetPause(d time.Duration) { a.pause = d }
