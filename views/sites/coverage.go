package sites

import (
	"fmt"
	"strings"
	"time"

	"linkwatch/models"
	"linkwatch/models/sites"
	"linkwatch/views/ui"
)

// Range is how far back a chart of coverage goes.
type Range string

// The ranges.
const (
	Days30  Range = "30d"
	Days90  Range = "90d"
	Days365 Range = "365d"
)

var ranges = []Range{Days30, Days90, Days365}

// ParseRange reads a range; "" = 30 days. The error is CodeInvalid ("query.range").
func ParseRange(s string) (Range, error) {
	switch r := Range(s); r {
	case "":
		return Days30, nil
	case Days30, Days90, Days365:
		return r, nil
	}
	return "", models.Invalid("query.range", "must be 30d, 90d or 365d")
}

// days is how many days it has, today included.
func (r Range) days() int {
	switch r {
	case Days90:
		return 90
	case Days365:
		return 365
	case Days30:
	}
	return 30
}

func (r Range) words() string { return ui.Plural(r.days(), "day") }

// Since is when its first day begins.
func (r Range) Since(now models.Time) models.Time {
	return now.StartOfDay().Add(-time.Duration(r.days()-1) * models.Day)
}

// chartParts are the statuses as the chart stacks them, the lowest first.
var chartParts = []sites.Status{sites.Indexed, sites.Submitted, sites.Pending, sites.NotIndexed, sites.Failed}

const ticks = 4 // parts in which the time of the chart is shown

// chart is the coverage as the chart draws it: a bar for each day, none for days of which
// nothing is known.
func (v Site) chart() ui.BarChart {
	c := ui.BarChart{
		Label: fmt.Sprintf("Pages by status over the last %s. Now: %s", v.Place.Range.words(), figures(v.Counts.ByStatus)),
		Empty: "No pages in this time", Legend: coverageLegend(v),
	}
	for _, s := range chartParts {
		c.Parts = append(c.Parts, pageWords[s])
		c.Classes = append(c.Classes, "page-"+string(s))
		c.Hatched = append(c.Hatched, s == sites.NotIndexed || s == sites.Failed)
	}
	known := make(map[time.Time]sites.Day, len(v.Days))
	for _, d := range v.Days {
		known[d.At.UTC()] = d
	}
	if len(v.Days) == 0 {
		return c
	}
	n := v.Place.Range.days()
	first := v.Days[len(v.Days)-1].At.Add(-time.Duration(n-1) * models.Day)
	for i := range n {
		at := first.Add(time.Duration(i) * models.Day)
		d, ok := known[at.UTC()]
		bar := ui.Bar{Counts: make([]int64, len(chartParts)), Title: dayOf(at) + "\nnothing recorded"}
		if ok {
			bar.Title = dayOf(at) + "\n" + figures(d.ByStatus)
			for j, s := range chartParts {
				bar.Counts[j] = int64(d.ByStatus[s])
			}
		}
		c.Bars = append(c.Bars, bar)
	}
	for i := range ticks {
		at := first.Add(time.Duration(n) * models.Day * time.Duration(i) / ticks)
		if v.Place.Range == Days365 {
			c.Ticks = append(c.Ticks, at.Format("Jan 2006"))
		} else {
			c.Ticks = append(c.Ticks, at.Format("2 Jan"))
		}
	}
	return c
}

func dayOf(t models.Time) string { return t.Format("2 Jan 2006") }

// figures are counts by status in words: "3 indexed, 1 failed".
func figures(of map[sites.Status]int) string {
	var all []string
	for _, s := range chartParts {
		if n := of[s]; n > 0 {
			all = append(all, ui.Count(n)+" "+pageWords[s])
		}
	}
	if len(all) == 0 {
		return "no pages"
	}
	return strings.Join(all, ", ")
}
