package targets

import (
	"testing"
	"time"

	"linkwatch/models"
)

func TestNextDue(t *testing.T) {
	start := models.At(time.Date(2026, 3, 24, 12, 0, 0, 0, time.UTC))
	const interval = 15 * time.Second
	for seq := range int64(1000) {
		first := nextDue(seq, start, interval)
		if wait := first.Sub(start.Time); wait < interval/2 || wait >= interval*3/2 {
			t.Fatalf("target %d is due after %v", seq, wait)
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
