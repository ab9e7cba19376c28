package targets

import (
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"time"

	"linkwatch/models"
)

// MaxRecentChecks is the number of checks in RecentChecks.
const MaxRecentChecks = 40

// RecentCheck is a summary of one check.
type RecentCheck struct {
	At        models.Time // to the second
	Outcome   Outcome
	LatencyMS int
}

// RecentChecks is the last checks of a target, the newest last. It is a column of the
// target, so that lists of targets need not read check results.
type RecentChecks []RecentCheck

// plus returns b with one more check, and without the oldest if there are too many.
func (b RecentChecks) plus(next RecentCheck) RecentChecks {
	if len(b) >= MaxRecentChecks {
		b = b[len(b)-MaxRecentChecks+1:]
	}
	return append(b[:len(b):len(b)], next)
}

// Value implements driver.Valuer. Each check is three varints: the seconds since the
// previous check, the outcome and the response time in milliseconds.
func (b RecentChecks) Value() (driver.Value, error) {
	packed := make([]byte, 0, 5*len(b)+8)
	var previous int64
	for _, c := range b {
		at := c.At.Unix()
		packed = binary.AppendVarint(packed, at-previous)
		packed = binary.AppendUvarint(packed, uint64(c.Outcome))
		packed = binary.AppendUvarint(packed, uint64(c.LatencyMS))
		previous = at
	}
	return packed, nil
}

// Scan implements sql.Scanner.
func (b *RecentChecks) Scan(src any) error {
	packed, ok := src.([]byte)
	if !ok && src != nil {
		return fmt.Errorf("recent checks are %T, want bytes", src)
	}
	*b = make(RecentChecks, 0, min(len(packed)/3, MaxRecentChecks)) // a check has at least three bytes
	var at int64
	for len(packed) > 0 {
		step, n := binary.Varint(packed)
		outcome, m := binary.Uvarint(packed[max(n, 0):])
		latency, k := binary.Uvarint(packed[max(n, 0)+max(m, 0):])
		if n <= 0 || m <= 0 || k <= 0 {
			return fmt.Errorf("recent checks end with %d invalid bytes", len(packed))
		}
		at += step
		*b = append(*b, RecentCheck{models.At(time.Unix(at, 0)), Outcome(outcome), int(latency)})
		packed = packed[n+m+k:]
	}
	return nil
}

// GormDataType tells GORM that the column is binary.
func (RecentChecks) GormDataType() string { return "bytes" }
