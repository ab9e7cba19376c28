package ui

import (
	"fmt"
	"strconv"
	"strings"
)

// Dimensions of a sparkline in SVG units.
const (
	sparkHeight = 20
	sparkStep   = 2
)

// sparkline returns the SVG path of values. A negative value is a gap.
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
		place := strconv.Itoa(i*sparkStep) + " " + ChartY(v, top, sparkHeight)
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
