package targets

import "github.com/linkwatch/linkwatch/models"

// Bucket is a part of a chart: the checks from From until To.
type Bucket struct {
	From, To models.Time
	Share
	P50, P95 int // milliseconds, of the checks that had an answer; 0 without any
}

// History is what happened to a target over a range.
type History struct {
	Range    Range
	Buckets  []Bucket // the oldest first, without gaps; those without checks have zeros
	Share             // of the whole range
	P50, P95 int      // of the whole range
}
