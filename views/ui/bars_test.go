package ui

import "testing"

func TestCountTop(t *testing.T) {
	for n, want := range map[int64]int64{0: 2, 1: 2, 3: 4, 10: 10, 11: 12, 15: 16, 17: 20, 101: 120, 1_000_001: 1_200_000} {
		if got := countTop(n); got != want || got%2 != 0 {
			t.Errorf("countTop(%d) = %d, want %d", n, got, want)
		}
	}
}

func TestBarChart(t *testing.T) {
	c := BarChart{Parts: []string{"people", "bots"}, Bars: []Bar{{Counts: []int64{3, 1}}, {Counts: []int64{0, 0}}, {Counts: []int64{0, 2}}}}
	for what, got := range map[string][2]string{
		"the lower part":              {c.part(0), "M1 25.0h8v75.0h-8z"},
		"the upper one":               {c.part(1), "M1 0.0h8v25.0h-8zM21 50.0h8v50.0h-8z"},
		"the box holds three":         {c.box(), "0 0 30 100"},
		"a share":                     {shareWidth(1, 8), "12.5"},
		"a share of nothing":          {shareWidth(0, 0), "0"},
		"what is not nothing is seen": {BarChart{Bars: []Bar{{Counts: []int64{10_000}}, {Counts: []int64{1}}}}.part(0), "M1 0.0h8v100.0h-8zM11 98.8h8v1.2h-8z"},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %q, want %q", what, got[0], got[1])
		}
	}
	if c.top() != 4 || c.maxSum() != 4 || (BarChart{}).maxSum() != 0 {
		t.Errorf("the scale ends with %d", c.top())
	}
}

func TestBarChartOfStatuses(t *testing.T) {
	plain := BarChart{Parts: []string{"people", "bots"}}
	own := BarChart{Parts: []string{"up", "down"}, Classes: []string{"up", "down"}, Hatched: []bool{false, true}, Bars: make([]Bar, 33)}
	for what, got := range map[string][2]string{
		"a part without a class": {plain.class(1), "part-1"}, "one with a class": {own.class(1), "down"},
		"the hatching of 33 bars": {own.hatch(), "3.00"}, "one of its lines": {own.hatchLine(), "M0 4L3.00 0"},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %q, want %q", what, got[0], got[1])
		}
	}
	if plain.hatched(1) || own.hatched(0) || !own.hatched(1) {
		t.Error("the wrong parts are hatched")
	}
}
