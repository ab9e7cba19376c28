package ui

import "testing"

func TestSparkline(t *testing.T) {
	for want, ms := range map[string][]int{
		"M2 10.0L4 0.0M8 20.0h0": {-1, 5, 10, -1, 0}, // it has gaps and dots
		"":                       nil,
	} {
		if got := sparkline(ms); got != want {
			t.Errorf("%v: %q, want %q", ms, got, want)
		}
	}
}
