package targets

import (
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"time"

	"linkwatch/models"
)

// MaxRecentChecks is how many checks stand in the beat bar of a target.
const MaxRecentChecks = 40

// RecentCheck is one check in brief.
type RecentCheck struct {
	At        models.Time // to the second
	Outcome   Outcome
	LatencyMS int
}

// RecentChecks are the last checks of a target, the newest last. They stand in its
// row, so that a list needs no look at the results.
type RecentChecks []RecentCheck

// plus is b with one more beat, without what is too old for the bar.
func (b RecentChecks) plus(next RecentCheck) RecentChecks {
	if len(b) >= MaxRecentChecks {
		b = b[len(b)-MaxRecentChecks+1:]
	}
	return append(b[:len(b):len(b)], next)
}

// Value implements driver.Valuer: three varints for each beat, the seconds
// since the one before, the outcome and the latency.
func (b RecentChecks) Value() (driver.Value, error) {
	packed := make([]byte, 0, 5*len(b)+8)
	var before int64
	for _, beat := range b {
		at := beat.At.Unix()
		packed = binary.AppendVarint(packed, at-before)
		packed = binary.AppendUvarint(packed, uint64(beat.Outcome))
		packed = binary.AppendUvarint(packed, uint64(beat.LatencyMS))
		before = at
	}
	return packed, nil
}

// Scan implements sql.Scanner.
func (b *RecentChecks) Scan(src any) error {
	packed, ok := src.([]byte)
	if !ok && src != nil {
		return fmt.Errorf("a column of beats holds %T, want bytes", src)
	}
	*b = nil
	var at int64
	for len(packed) > 0 {
		step, n := binary.Varint(packed)
		outcome, m := binary.Uvarint(packed[max(n, 0):])
		latency, k := binary.Uvarint(packed[max(n, 0)+max(m, 0):])
		if n <= 0 || m <= 0 || k <= 0 {
			return fmt.Errorf("a column of beats holds %d bytes that are none", len(packed))
		}
		at += step
		*b = append(*b, RecentCheck{models.At(time.Unix(at, 0)), Outcome(outcome), int(latency)})
		packed = packed[n+m+k:]
	}
	return nil
}

// GormDataType tells GORM that the column is binary.
func (RecentChecks) GormDataType() string { return "bytes" }
