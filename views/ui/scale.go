package ui

import (
	"fmt"
	"strconv"
)

// Dimensions of a chart in SVG units.
const (
	ChartStep   = 10 // width of a point or bar
	ChartHeight = 100
)

// niceTops are the leading digits of round scale ends.
var niceTops = []int{10, 12, 16, 20, 30, 40, 50, 60, 80, 100}

// NiceTop returns a round end of a scale for values up to n.
func NiceTop(n int) int {
	for unit := 1; ; unit *= 10 {
		for _, top := range niceTops {
			if n <= top*unit {
				return top * unit
			}
		}
	}
}

// ChartColumn returns the SVG path of a column with the full height, for hover.
func ChartColumn(i int) string {
	return fmt.Sprintf("M%d 0h%dv%dh-%dz", i*ChartStep, ChartStep, ChartHeight, ChartStep)
}

// ChartY returns the y coordinate of n in a chart of a height whose scale ends at top.
func ChartY(n, top, height int) string {
	return strconv.FormatFloat(float64(height)*(1-float64(n)/float64(top)), 'f', 1, 64)
}
