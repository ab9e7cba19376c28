package ui

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/a-h/templ"
)

// BarChart is a count for each of some times of equal length, in parts that
// stand on one another.
type BarChart struct {
	Label   string   // what it shows, in words
	Parts   []string // what the parts are, the lowest first; two at most without Classes
	Classes []string // of the parts, by which they are coloured; nil = part-0 and part-1
	Hatched []bool   // parts that are hatched too; nil = none
	Bars    []Bar
	Ticks   []string        // when each of so many equal parts of the chart begins
	Empty   string          // what is said where every count is 0
	Legend  templ.Component // in place of the plain one; nil = that
}

// class is the class of a part.
func (c BarChart) class(of int) string {
	if c.Classes == nil {
		return "part-" + strconv.Itoa(of)
	}
	return c.Classes[of]
}

func (c BarChart) hatched(of int) bool { return of < len(c.Hatched) && c.Hatched[of] }

// hatch is the width of one line of the hatching, with its gap: the browser stretches the
// chart, so it is a share of its width.
func (c BarChart) hatch() string {
	return fmt.Sprintf("%.2f", float64(max(len(c.Bars), 1)*ChartStep)/hatches)
}

// hatchLine is one line of the hatching.
func (c BarChart) hatchLine() string { return "M0 " + hatchHigh + "L" + c.hatch() + " 0" }

const (
	hatches   = 110 // lines side by side
	hatchHigh = "4"
)

// Bar is one time of a bar chart.
type Bar struct {
	Counts []int64 // of the parts
	Title  string  // shown while the mouse rests on it
}

func (b Bar) sum() int64 {
	var n int64
	for _, c := range b.Counts {
		n += c
	}
	return n
}

// countTop is the end of a scale of counts that n fits on: its half is a whole
// number too.
func countTop(n int64) int64 {
	if n <= 10 {
		return max(2, n+n%2)
	}
	return int64(NiceTop(int(n)))
}

func (c BarChart) most() int64 {
	var most int64
	for _, b := range c.Bars {
		most = max(most, b.sum())
	}
	return most
}

func (c BarChart) top() int64 { return countTop(c.most()) }

func (c BarChart) box() string {
	return fmt.Sprintf("0 0 %d %d", max(len(c.Bars), 1)*ChartStep, ChartHeight)
}

// The measures of a bar, in units that the browser stretches.
const (
	barGap   = 1   // on each side
	barLeast = 1.2 // high is what is more than nothing
)

// part is the outline of one part of all bars.
func (c BarChart) part(of int) string {
	var d strings.Builder
	top := float64(c.top())
	for i, b := range c.Bars {
		y := float64(ChartHeight)
		for at, n := range b.Counts {
			if n == 0 {
				continue
			}
			high := max(float64(n)/top*ChartHeight, barLeast)
			if y -= high; at == of {
				fmt.Fprintf(&d, "M%d %.1fh%dv%.1fh-%dz", i*ChartStep+barGap, y, ChartStep-2*barGap, high, ChartStep-2*barGap)
			}
		}
	}
	return d.String()
}

// shareWidth is how much of a hundred a part is of the whole.
func shareWidth(part, whole int64) string {
	if whole <= 0 {
		return "0"
	}
	return fmt.Sprintf("%.1f", 100*float64(part)/float64(whole))
}
