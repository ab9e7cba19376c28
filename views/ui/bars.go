package ui

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/a-h/templ"
)

// BarChart is a stacked bar chart of counts per time interval.
type BarChart struct {
	Label   string   // accessible description
	Parts   []string // labels of the stacked parts, bottom first; at most three without Classes
	Classes []string // CSS classes of the parts, for their colors; nil = part-0, part-1, …
	Hatched []bool   // parts with hatching; nil = none
	Bars    []Bar
	Ticks   []string        // labels of the x axis, at equal distances
	Empty   string          // text if all counts are 0
	Legend  templ.Component // nil = default legend
}

func (c BarChart) class(part int) string {
	if c.Classes == nil {
		return "part-" + strconv.Itoa(part)
	}
	return c.Classes[part]
}

func (c BarChart) hatched(part int) bool {
	return part < len(c.Hatched) && c.Hatched[part]
}

// hatch returns the width of a line of the hatching with its gap. It depends on the width of the
// chart, because the browser stretches the chart.
func (c BarChart) hatch() string {
	return fmt.Sprintf("%.2f", float64(max(len(c.Bars), 1)*ChartStep)/hatches)
}

// hatchLine returns the SVG path of one line of the hatching.
func (c BarChart) hatchLine() string { return "M0 " + hatchHigh + "L" + c.hatch() + " 0" }

const (
	hatches   = 110 // number of lines
	hatchHigh = "4"
)

// Bar is one interval of a bar chart.
type Bar struct {
	Counts []int64 // by part
	Title  string  // tooltip
}

func (b Bar) sum() int64 {
	var n int64
	for _, c := range b.Counts {
		n += c
	}
	return n
}

// countTop returns the end of a scale for counts up to n. It is even, so that the label in the
// middle is a whole number.
func countTop(n int64) int64 {
	if n <= 10 {
		return max(2, n+n%2)
	}
	return int64(NiceTop(int(n)))
}

func (c BarChart) maxSum() int64 {
	var n int64
	for _, b := range c.Bars {
		n = max(n, b.sum())
	}
	return n
}

func (c BarChart) top() int64 { return countTop(c.maxSum()) }

func (c BarChart) box() string {
	return fmt.Sprintf("0 0 %d %d", max(len(c.Bars), 1)*ChartStep, ChartHeight)
}

// Dimensions of a bar in SVG units.
const (
	barGap       = 1   // on each side
	barMinHeight = 1.2 // of a count above 0
)

// part returns the SVG path of one part of all bars.
func (c BarChart) part(index int) string {
	var d strings.Builder
	top := float64(c.top())
	for i, b := range c.Bars {
		y := float64(ChartHeight)
		for at, n := range b.Counts {
			if n == 0 {
				continue
			}
			high := max(float64(n)/top*ChartHeight, barMinHeight)
			if y -= high; at == index {
				fmt.Fprintf(&d, "M%d %.1fh%dv%.1fh-%dz", i*ChartStep+barGap, y, ChartStep-2*barGap, high, ChartStep-2*barGap)
			}
		}
	}
	return d.String()
}

func shareWidth(part, whole int64) string {
	if whole <= 0 {
		return "0"
	}
	return fmt.Sprintf("%.1f", 100*float64(part)/float64(whole))
}
