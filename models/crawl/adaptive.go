package crawl

import (
	"time"

	"linkwatch/models"
)

// maxAdapted is the longest interval that Adapt makes of a shorter one.
const maxAdapted = models.Day

// Adapt returns how long to wait before the next run of a job whose source did not
// change in its last runs: baseline × 2^unchanged, at most 24 hours. A longer baseline
// stays as it is.
func Adapt(baseline time.Duration, unchanged int) time.Duration {
	return max(baseline, doubled(baseline, unchanged, maxAdapted))
}
