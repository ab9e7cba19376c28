package targets

import (
	"math"
	"slices"
	"testing"
	"time"

	"linkwatch/models"
)

func TestJudge(t *testing.T) {
	ok := Answer{StatusCode: 200, Latency: 100 * time.Millisecond, Body: []byte("hello world")}
	with := func(change func(*Answer)) Answer { a := ok; change(&a); return a }
	status := func(n int) Answer { return with(func(a *Answer) { a.StatusCode = n }) }
	for _, c := range []struct {
		name    string
		expect  Expect
		answer  Answer
		outcome Outcome
		problem string
	}{
		{"ok", Expect{}, ok, UpOutcome, ""},
		{"3xx", Expect{}, status(304), UpOutcome, ""},
		{"404", Expect{}, status(404), DownOutcome, "unexpected status 404"},
		{"500", Expect{}, status(500), DownOutcome, "unexpected status 500"},
		{"429", Expect{}, status(429), ThrottledOutcome, "throttled: status 429"},
		{"429 is expected", Expect{Status: "200-499"}, status(429), UpOutcome, ""},
		{"404 is expected", Expect{Status: "404"}, status(404), UpOutcome, ""},
		{"200 is not", Expect{Status: "201,204-299"}, ok, DownOutcome, "unexpected status 200"},
		{"keyword", Expect{Keyword: "world"}, ok, UpOutcome, ""},
		{"keyword in another casing", Expect{Keyword: "World"}, ok, DownOutcome, "keyword not found"},
		{"unwanted keyword", Expect{Absent: "hello"}, ok, DownOutcome, "unwanted keyword found"},
		{"no unwanted keyword", Expect{Absent: "error"}, ok, UpOutcome, ""},
		{"slow", Expect{MaxLatencyMS: 99}, ok, DownOutcome, "slower than 99 ms"},
		{"fast enough", Expect{MaxLatencyMS: 100}, ok, UpOutcome, ""},
		{"no answer", Expect{}, Answer{Error: "connection refused"}, DownOutcome, "connection refused"},
		{"endless", Expect{}, with(func(a *Answer) { a.Endless = true }), DownOutcome, "the body is too long"},
	} {
		if outcome, problem := c.expect.Judge(c.answer); outcome != c.outcome || problem != c.problem {
			t.Errorf("%s: %s %q, want %s %q", c.name, outcome, problem, c.outcome, c.problem)
		}
	}
}

func TestNextDue(t *testing.T) {
	start := models.At(time.Date(2026, 3, 24, 12, 0, 0, 0, time.UTC))
	const interval = 15 * time.Second
	for seq := range int64(1000) {
		first := nextDue(seq, start, interval)
		if wait := first.Sub(start.Time); wait < interval/2 || wait >= interval*3/2 {
			t.Fatalf("target %d comes due after %v", seq, wait)
		}
		for late, want := range map[time.Duration]time.Duration{
			0: interval, time.Millisecond: interval, interval / 3: interval, interval * 2 / 3: 2 * interval,
		} {
			if next := nextDue(seq, first.Add(late), interval); next.Sub(first.Time) != want {
				t.Fatalf("target %d, %v late: next after %v, want %v", seq, late, next.Sub(first.Time), want)
			}
		}
	}
}

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

func FuzzBeats(f *testing.F) {
	v, err := Beats{{models.At(time.Unix(1e9, 0)), DownOutcome, 250}, {models.At(time.Unix(1e9+60, 0)), UpOutcome, 3}}.Value()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(v.([]byte))
	f.Fuzz(func(t *testing.T, packed []byte) {
		var b, again Beats
		if b.Scan(packed) != nil {
			return
		}
		v, err := b.Value()
		if err != nil || again.Scan(v) != nil || len(again) != len(b) {
			t.Errorf("%v became %v, %v", b, again, err)
		}
	})
}

func FuzzParseStatuses(f *testing.F) {
	f.Add("200-399")
	f.Add(" 200 , 301-308,404")
	f.Fuzz(func(t *testing.T, s string) {
		e, err := Expect{Status: s}.check("expect")
		if err != nil {
			return
		}
		again, err := e.check("expect")
		if err != nil || again != e {
			t.Errorf("%q became %q, then %q, %v", s, e.Status, again.Status, err)
		}
	})
}
