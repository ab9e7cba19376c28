package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Chart is how long answers took over a time, in buckets of equal length.
type Chart struct {
	Label  string // what the lines show, in words
	Bars   string // what the bars under them show, in words
	Points []Point
	Ticks  []string // when each of so many equal parts begins
}

// Point is one bucket of a chart.
type Point struct {
	P50, P95 int      // milliseconds
	Answered bool     // false: there are no latencies, the lines have a gap
	Beat     BeatKind // how the checks went
	Title    string   // shown while the mouse rests on it
}

// The measures of the pictures, in units that the browser stretches.
const (
	chartStep   = 10 // for each point
	chartHeight = 100
	sparkHeight = 20
	sparkStep   = 2
)

// niceTops are the first digits of a scale's end that halve well.
var niceTops = []int{10, 12, 16, 20, 30, 40, 50, 60, 80, 100}

// niceTop is the end of a scale that n fits on, in milliseconds.
func niceTop(n int) int {
	for unit := 1; ; unit *= 10 {
		for _, top := range niceTops {
			if n <= top*unit {
				return top * unit
			}
		}
	}
}

// top is the end of the chart's scale.
func (c Chart) top() int {
	most := 0
	for _, p := range c.Points {
		most = max(most, p.P50, p.P95)
	}
	return niceTop(most)
}

func (c Chart) box() string {
	return fmt.Sprintf("0 0 %d %d", max(len(c.Points), 1)*chartStep, chartHeight)
}

// empty says whether there is nothing to draw a line of.
func (c Chart) empty() bool {
	for _, p := range c.Points {
		if p.Answered {
			return false
		}
	}
	return true
}

// bars are the outlines of the bars of a kind under the lines.
func (c Chart) bars(k BeatKind) string {
	var d strings.Builder
	for i, p := range c.Points {
		if p.Beat == k {
			fmt.Fprintf(&d, "M%d 0h%dv1h-%dz", i*chartStep, chartStep-1, chartStep-1)
		}
	}
	return d.String()
}

func (c Chart) barsBox() string { return fmt.Sprintf("0 0 %d 1", max(len(c.Points), 1)*chartStep-1) }

// runs are the stretches of points that had answers, as first and last index.
func (c Chart) runs() [][2]int {
	var runs [][2]int
	for i, p := range c.Points {
		switch {
		case !p.Answered:
		case i > 0 && c.Points[i-1].Answered:
			runs[len(runs)-1][1] = i
		default:
			runs = append(runs, [2]int{i, i})
		}
	}
	return runs
}

// at is the place of a value in the middle of its bucket.
func (c Chart) at(i, ms, top int) string {
	return strconv.Itoa(i*chartStep+chartStep/2) + " " + height(ms, top, chartHeight)
}

// line is the outline of one of the two lines, broken where nothing answered.
// A point alone is drawn as wide as its bucket.
func (c Chart) line(value func(Point) int) string {
	var d strings.Builder
	top := c.top()
	for _, run := range c.runs() {
		first := value(c.Points[run[0]])
		if run[0] == run[1] {
			fmt.Fprintf(&d, "M%d %sh%d", run[0]*chartStep, height(first, top, chartHeight), chartStep)
			continue
		}
		d.WriteString("M" + c.at(run[0], first, top))
		for i := run[0] + 1; i <= run[1]; i++ {
			d.WriteString("L" + c.at(i, value(c.Points[i]), top))
		}
	}
	return d.String()
}

// band is the outline of what lies between the two lines.
func (c Chart) band() string {
	var d strings.Builder
	top := c.top()
	for _, run := range c.runs() {
		if run[0] == run[1] {
			continue
		}
		d.WriteString("M")
		for i := run[0]; i <= run[1]; i++ {
			d.WriteString(c.at(i, c.Points[i].P95, top) + "L")
		}
		for i := run[1]; i >= run[0]; i-- {
			d.WriteString(c.at(i, c.Points[i].P50, top))
			if i > run[0] {
				d.WriteString("L")
			}
		}
		d.WriteString("z")
	}
	return d.String()
}

// column is the outline of a bucket's whole height.
func column(i int) string {
	return fmt.Sprintf("M%d 0h%dv%dh-%dz", i*chartStep, chartStep, chartHeight, chartStep)
}

// height is how far from the upper edge a value stands.
func height(ms, top, of int) string {
	return strconv.FormatFloat(float64(of)*(1-float64(ms)/float64(top)), 'f', 1, 64)
}

// sparkline is the outline of a small line of values; a negative one is a gap.
func sparkline(ms []int) string {
	var d strings.Builder
	top := 1
	for _, v := range ms {
		top = max(top, v)
	}
	for i, v := range ms {
		if v < 0 {
			continue
		}
		place := strconv.Itoa(i*sparkStep) + " " + height(v, top, sparkHeight)
		switch {
		case i > 0 && ms[i-1] >= 0:
			d.WriteString("L" + place)
		case i+1 < len(ms) && ms[i+1] >= 0:
			d.WriteString("M" + place)
		default:
			d.WriteString("M" + place + "h0")
		}
	}
	return d.String()
}

func sparkBox(ms []int) string {
	return fmt.Sprintf("0 0 %d %d", max(len(ms)-1, 1)*sparkStep, sparkHeight)
}

// Latency writes milliseconds as people read them: "84 ms", "1.2 s".
func Latency(ms int) string { return Took(time.Duration(ms) * time.Millisecond) }
