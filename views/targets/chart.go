package targets

import (
	"fmt"
	"strconv"
	"strings"

	"linkwatch/views/ui"
)

// chart is response times over a range, in buckets of equal length.
type chart struct {
	Label  string // description of the lines, for screen readers
	Bars   string // description of the bars below the lines
	Points []point
	Ticks  []string // start times of equal parts of the range
}

// point is one bucket of a chart.
type point struct {
	P50, P95 int         // milliseconds
	Answered bool        // false: there were no responses, so the lines have a gap
	Uptime   segmentKind // the uptime of the bucket
	Title    string      // shown on hover
}

// top is the highest value of the chart's scale, in milliseconds.
func (c chart) top() int {
	most := 0
	for _, p := range c.Points {
		most = max(most, p.P50, p.P95)
	}
	return ui.NiceTop(most)
}

func (c chart) box() string {
	return fmt.Sprintf("0 0 %d %d", max(len(c.Points), 1)*ui.ChartStep, ui.ChartHeight)
}

// empty reports whether there were no responses.
func (c chart) empty() bool {
	for _, p := range c.Points {
		if p.Answered {
			return false
		}
	}
	return true
}

// bars returns the path of the bars of a kind below the lines.
func (c chart) bars(k segmentKind) string {
	var d strings.Builder
	for i, p := range c.Points {
		if p.Uptime == k {
			fmt.Fprintf(&d, "M%d 0h%dv1h-%dz", i*ui.ChartStep, ui.ChartStep-1, ui.ChartStep-1)
		}
	}
	return d.String()
}

func (c chart) barsBox() string { return fmt.Sprintf("0 0 %d 1", max(len(c.Points), 1)*ui.ChartStep-1) }

// runs returns the first and last index of each run of points with responses.
func (c chart) runs() [][2]int {
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

// at returns the coordinates of a value, in the middle of its bucket.
func (c chart) at(i, ms, top int) string {
	return strconv.Itoa(i*ui.ChartStep+ui.ChartStep/2) + " " + ui.ChartY(ms, top, ui.ChartHeight)
}

// line returns the path of one of the two lines, with gaps where there were no
// responses. A single point is as wide as its bucket.
func (c chart) line(value func(point) int) string {
	var d strings.Builder
	top := c.top()
	for _, run := range c.runs() {
		first := value(c.Points[run[0]])
		if run[0] == run[1] {
			fmt.Fprintf(&d, "M%d %sh%d", run[0]*ui.ChartStep, ui.ChartY(first, top, ui.ChartHeight), ui.ChartStep)
			continue
		}
		d.WriteString("M" + c.at(run[0], first, top))
		for i := run[0] + 1; i <= run[1]; i++ {
			d.WriteString("L" + c.at(i, value(c.Points[i]), top))
		}
	}
	return d.String()
}

// band returns the path of the area between the two lines.
func (c chart) band() string {
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
