package targets

import "testing"

func TestChartLines(t *testing.T) {
	c := chart{Points: []point{
		{P50: 5, P95: 10, Answered: true, Uptime: segmentUp}, {P50: 10, P95: 10, Answered: true, Uptime: segmentPartly},
		{Uptime: segmentDown}, {P50: 0, P95: 5, Answered: true, Uptime: segmentUp}, {Uptime: segmentNone},
	}}
	for what, got := range map[string][2]string{
		"the median has a gap and a point alone": {c.line(func(p point) int { return p.P50 }), "M5 50.0L15 0.0M30 100.0h10"},
		"the band has no such point":             {c.band(), "M5 0.0L15 0.0L15 0.0L5 50.0z"},
		"the box holds five":                     {c.box(), "0 0 50 100"},
		"the bars that are up":                   {c.bars(segmentUp), "M0 0h9v1h-9zM30 0h9v1h-9z"},
		"the bars' box ends with one":            {c.barsBox(), "0 0 49 1"},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %q, want %q", what, got[0], got[1])
		}
	}
	if c.empty() || !(chart{Points: []point{{Uptime: segmentDown}}}).empty() {
		t.Error("a chart is empty if nothing answered")
	}
}
