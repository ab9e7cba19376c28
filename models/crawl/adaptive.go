package crawl

import (
	"time"

	"linkwatch/models"
)

// maxAdapted is the longest interval to which Adapt extends a shorter one.
const maxAdapted = models.Day

// Adapt returns the interval of a job whose source did not change in its last crawls: baseline × 2^unchanged, at most 24
// hours. A longer baseline is returned as it is.
func Adapt(baseline time.Duration, unchanged int) time.Duration {
	return max(baseline, doubled(baseline, unchanged, maxAdapted))
}
