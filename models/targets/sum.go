package targets

import "github.com/linkwatch/linkwatch/models"

// Sum is the roll-up of an hour or a day: its checks, those that found the
// target up, and how long the answers took.
type Sum struct {
	At      models.Time // when it began; zero: there is none yet
	Checks  int64
	Up      int64
	Latency Latencies
}
