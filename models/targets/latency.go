package targets

import (
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// Latencies is a histogram of response times in milliseconds. It is encoded as pairs of
// varints: the distance from the previous bucket that is not empty, and the count. Four
// buckets per doubling make quantiles accurate within 12 %. Each bucket that is not
// empty takes about two bytes. Histograms can be added.
type Latencies []byte

// latencyBuckets is the number of buckets. They cover 0 ms to more than 300 s.
const latencyBuckets = 4 * 18

// bucketOf returns the bucket of a response time: one each for 0 to 7 ms, then four per
// doubling.
func bucketOf(ms int) int {
	if ms < 8 {
		return max(ms, 0)
	}
	octave := bits.Len(uint(ms)) - 1 // at least 3
	return min(8+4*(octave-3)+ms>>(octave-2)&3, latencyBuckets-1)
}

// bucketFrom returns the lower bound of a bucket in milliseconds.
func bucketFrom(b int) float64 {
	if b < 8 {
		return float64(b)
	}
	return float64((4 + (b-8)%4) << ((b-8)/4 + 1))
}

// Value implements driver.Valuer. An empty histogram is an empty value, not NULL.
func (l Latencies) Value() (driver.Value, error) { return append([]byte{}, l...), nil }

// Scan implements sql.Scanner.
func (l *Latencies) Scan(src any) error {
	packed, ok := src.([]byte)
	if !ok && src != nil {
		return fmt.Errorf("latencies are %T, want bytes", src)
	}
	*l = append(Latencies{}, packed...)
	return nil
}

// GormDataType tells GORM that the column is binary.
func (Latencies) GormDataType() string { return "bytes" }

type histogram [latencyBuckets]uint64

func (l Latencies) unpack(h *histogram) {
	at := 0
	for len(l) > 0 {
		step, n := binary.Uvarint(l)
		count, m := binary.Uvarint(l[max(n, 0):])
		if n <= 0 || m <= 0 || step >= uint64(latencyBuckets-at) { // invalid: ignore the rest
			return
		}
		at += int(step)
		h[at] += count
		l = l[n+m:]
	}
}

func (h *histogram) pack() Latencies {
	l := Latencies{}
	before := 0
	for at, count := range h {
		if count > 0 {
			l = binary.AppendUvarint(l, uint64(at-before))
			l = binary.AppendUvarint(l, count)
			before = at
		}
	}
	return l
}

// plus returns the histogram with one more value.
func (l Latencies) plus(ms int) Latencies {
	var h histogram
	l.unpack(&h)
	h[bucketOf(ms)]++
	return h.pack()
}

// quantile returns the q-quantile (0 to 1) in milliseconds, interpolated within its
// bucket. It is 0 for an empty histogram.
func (h *histogram) quantile(q float64) int {
	var total uint64
	for _, count := range h {
		total += count
	}
	if total == 0 {
		return 0
	}
	rank := q * float64(total)
	var below float64
	for at, count := range h {
		if count > 0 && below+float64(count) >= rank {
			from, to := bucketFrom(at), bucketFrom(at+1)
			return int(math.Round(from + (to-from)*(rank-below)/float64(count)))
		}
		below += float64(count)
	}
	return int(bucketFrom(latencyBuckets - 1))
}
