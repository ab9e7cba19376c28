package targets

import (
	"time"

	"linkwatch/models"
)

// Range is a period that ends now. It consists of whole hours or days in UTC, including
// the current one. Last24h is this hour and the 23 before, Last7d is today and the six
// days before.
type Range string

// The ranges.
const (
	Last24h  Range = "24h"
	Last7d   Range = "7d"
	Last30d  Range = "30d"
	Last90d  Range = "90d"
	Last365d Range = "365d"
)

// Ranges is all ranges, the shortest first.
var Ranges = []Range{Last24h, Last7d, Last30d, Last90d, Last365d}

// Windows is the ranges of Target.Uptime.
var Windows = []Range{Last24h, Last7d, Last30d, Last90d}

var rangeDays = map[Range]int{Last24h: 1, Last7d: 7, Last30d: 30, Last90d: 90, Last365d: 365}

// ParseRange parses a range; "" is Last24h.
func ParseRange(location, s string) (Range, error) {
	if s == "" {
		return Last24h, nil
	}
	if _, ok := rangeDays[Range(s)]; !ok {
		return "", models.Invalid(location, "must be one of 24h, 7d, 30d, 90d, 365d")
	}
	return Range(s), nil
}

// From returns the start of the range that ends now.
func (r Range) From(now models.Time) models.Time {
	if r == Last24h {
		return models.At(now.Truncate(time.Hour).Add(-23 * time.Hour))
	}
	return now.StartOfDay().Add(-time.Duration(rangeDays[r]-1) * models.Day)
}

// CountsSince returns when the known time of a share begins, if that is later than
// the start of the range that ends now. It is zero if the history covers the start
// of the range, or if no time is known.
func (r Range) CountsSince(s Share, now models.Time) models.Time {
	if s.Since.After(r.From(now).Time) {
		return s.Since
	}
	return models.Time{}
}
