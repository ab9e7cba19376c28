package ui

import (
	"fmt"
	"strconv"
)

// The measures of a chart, in units that the browser stretches.
const (
	ChartStep   = 10 // for each point or bar
	ChartHeight = 100
)

// niceTops are the first digits of a scale's end that halve well.
var niceTops = []int{10, 12, 16, 20, 30, 40, 50, 60, 80, 100}

// NiceTop is the end of a scale that n fits on.
func NiceTop(n int) int {
	for unit := 1; ; unit *= 10 {
		for _, top := range niceTops {
			if n <= top*unit {
				return top * unit
			}
		}
	}
}

// ChartColumn is the outline of a bucket's whole height.
func ChartColumn(i int) string {
	return fmt.Sprintf("M%d 0h%dv%dh-%dz", i*ChartStep, ChartStep, ChartHeight, ChartStep)
}

// ChartY is how far n stands from the upper edge of a picture that is height high and
// whose scale ends at top.
func ChartY(n, top, height int) string {
	return strconv.FormatFloat(float64(height)*(1-float64(n)/float64(top)), 'f', 1, 64)
}
