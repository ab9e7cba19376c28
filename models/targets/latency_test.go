package targets

import (
	"math"
	"slices"
	"testing"
)

// Quantiles of the packed histogram stay near those of the values.
func TestLatencyQuantiles(t *testing.T) {
	var packed Latencies
	var values []int
	for i := range 5000 {
		v := int(math.Exp(float64(i%997) / 80))
		values = append(values, v)
		packed = packed.plus(v)
	}
	slices.Sort(values)
	var h histogram
	packed.unpack(&h)
	for _, q := range []float64{0.05, 0.5, 0.9, 0.95, 0.99} {
		got, want := float64(h.quantile(q)), float64(values[int(q*float64(len(values)))])
		if math.Abs(got-want) > 0.15*want+1 {
			t.Errorf("quantile %v is %v, of the values it is %v", q, got, want)
		}
	}
	if len(packed) > 3*latencyBuckets {
		t.Errorf("%d bytes", len(packed))
	}
	var none histogram
	if none.quantile(0.5) != 0 {
		t.Error("a quantile of nothing")
	}
}

func TestBucketsCoverAllLatencies(t *testing.T) {
	before := -1
	for ms := range 400_000 {
		b := bucketOf(ms)
		if b < before || b > before+1 || float64(ms) < bucketFrom(b) || b < latencyBuckets-1 && float64(ms) >= bucketFrom(b+1) {
			t.Fatalf("%d ms are in bucket %d, which begins at %v", ms, b, bucketFrom(b))
		}
		before = b
	}
}

func FuzzLatencies(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4}, 77)
	f.Fuzz(func(t *testing.T, packed []byte, ms int) {
		var before, after histogram
		Latencies(packed).unpack(&before)
		more := Latencies(packed).plus(ms)
		more.unpack(&after)
		before[bucketOf(ms)]++
		if before != after {
			t.Errorf("%v and %d give %v", packed, ms, more)
		}
	})
}
