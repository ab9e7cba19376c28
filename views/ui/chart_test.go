package ui

import "testing"

func TestNiceTop(t *testing.T) {
	for n, want := range map[int]int{0: 10, 9: 10, 10: 10, 11: 12, 84: 100, 101: 120, 139: 160, 700: 800, 5000: 5000, 60_001: 80_000} {
		if got := niceTop(n); got != want {
			t.Errorf("niceTop(%d) = %d, want %d", n, got, want)
		}
	}
}

func TestChartLines(t *testing.T) {
	c := Chart{Points: []Point{
		{P50: 5, P95: 10, Answered: true, Beat: BeatUp}, {P50: 10, P95: 10, Answered: true, Beat: BeatPartly},
		{Beat: BeatDown}, {P50: 0, P95: 5, Answered: true, Beat: BeatUp}, {Beat: BeatNone},
	}}
	for what, got := range map[string][2]string{
		"the median has a gap and a point alone": {c.line(func(p Point) int { return p.P50 }), "M5 50.0L15 0.0M30 100.0h10"},
		"the band has no such point":             {c.band(), "M5 0.0L15 0.0L15 0.0L5 50.0z"},
		"the box holds five":                     {c.box(), "0 0 50 100"},
		"the bars that are up":                   {c.bars(BeatUp), "M0 0h9v1h-9zM30 0h9v1h-9z"},
		"the bars' box ends with one":            {c.barsBox(), "0 0 49 1"},
		"a sparkline has gaps and dots":          {sparkline([]int{-1, 5, 10, -1, 0}), "M2 10.0L4 0.0M8 20.0h0"},
		"a sparkline of nothing":                 {sparkline(nil), ""},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %q, want %q", what, got[0], got[1])
		}
	}
	if c.empty() || !(Chart{Points: []Point{{Beat: BeatDown}}}).empty() {
		t.Error("a chart is empty if nothing answered")
	}
}

func TestBeatBars(t *testing.T) {
	beats := []Beat{{Kind: BeatUp}, {Kind: BeatDown, Title: "down"}, {Kind: BeatUp}}
	if got := beatBars(beats, BeatUp); got != "M0 4h4v16h-4zM12 4h4v16h-4z" {
		t.Errorf("%q", got)
	}
	if got := beatBars(beats, BeatDown); got != "" {
		t.Errorf("a bar with a title is drawn twice: %q", got)
	}
	if beatBox(beats) != "0 0 16 24" || beatBox(nil) != "0 0 4 24" {
		t.Errorf("%q, %q", beatBox(beats), beatBox(nil))
	}
	for _, k := range beatKinds {
		if beatHeights[k] == 0 {
			t.Errorf("%s has no height", k)
		}
	}
}
