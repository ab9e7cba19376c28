package crawl

import (
	"time"

	"linkwatch/models"
)

// maxAdapted is the longest interval to which Adapt extends a shorter one.
const maxAdapted = models.Day

// Adapt returns the interval of a job whose source did not change in its last crawls: baseline × 2^unchanged, or the largest
// multiple of baseline that is at most 24 hours if that is less. So runs stay in phase. A longer baseline is returned as it is.
func Adapt(baseline time.Duration, unchanged int) time.Duration {
	if baseline <= 0 {
		return baseline
	}
	return max(baseline, doubled(baseline, unchanged, maxAdapted).Truncate(baseline))
}
