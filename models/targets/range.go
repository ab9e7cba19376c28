package targets

import (
	"time"

	"github.com/linkwatch/linkwatch/models"
)

// Range is how far back a figure looks: "24h" or "7d". Hours and days are
// counted whole, in UTC, with the one under way: "24h" is this hour and the 23
// before it, "7d" today and the six days before.
type Range string

// The ranges.
const (
	Last24h  Range = "24h"
	Last7d   Range = "7d"
	Last30d  Range = "30d"
	Last90d  Range = "90d"
	Last365d Range = "365d"
)

// Ranges are all of them, the shortest first.
var Ranges = []Range{Last24h, Last7d, Last30d, Last90d, Last365d}

// Windows are the ranges over which Target.Uptime is kept (contract §4).
var Windows = []Range{Last24h, Last7d, Last30d, Last90d}

const day = 24 * time.Hour

var rangeDays = map[Range]int{Last24h: 1, Last7d: 7, Last30d: 30, Last90d: 90, Last365d: 365}

// ParseRange reads a range; "" is Last24h.
func ParseRange(location, s string) (Range, error) {
	if s == "" {
		return Last24h, nil
	}
	if _, ok := rangeDays[Range(s)]; !ok {
		return "", models.Invalid(location, "must be one of 24h, 7d, 30d, 90d, 365d")
	}
	return Range(s), nil
}

// from is where the range begins.
func (r Range) from(now models.Time) models.Time {
	if r == Last24h {
		return models.At(now.Truncate(time.Hour).Add(-23 * time.Hour))
	}
	return models.At(now.Truncate(day).Add(-time.Duration(rangeDays[r]-1) * day))
}

// Share is how many of the checks of a time found the target up. Checks that
// were throttled count neither way.
type Share struct{ Checks, Up int64 }

// Ratio is Up by Checks, from 0 to 1; ok is false without any check.
func (s Share) Ratio() (ratio float64, ok bool) {
	if s.Checks == 0 {
		return 0, false
	}
	return float64(s.Up) / float64(s.Checks), true
}

func (s Share) plus(o Share) Share { return Share{s.Checks + o.Checks, s.Up + o.Up} }
