package sites

import (
	"fmt"
	"strings"
	"time"

	"linkwatch/models"
	"linkwatch/models/sites"
	"linkwatch/views/ui"
)

// Range is the time span of the coverage chart.
type Range string

// The ranges.
const (
	Days30  Range = "30d"
	Days90  Range = "90d"
	Days365 Range = "365d"
)

var ranges = []Range{Days30, Days90, Days365}

// ParseRange parses a range. "" is 30 days. The error is CodeInvalid ("query.range").
func ParseRange(s string) (Range, error) {
	switch r := Range(s); r {
	case "":
		return Days30, nil
	case Days30, Days90, Days365:
		return r, nil
	}
	return "", models.Invalid("query.range", "must be 30d, 90d or 365d")
}

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

// Since returns the start of the first day, in UTC.
func (r Range) Since(now models.Time) models.Time {
	return now.StartOfDay().Add(-time.Duration(r.days()-1) * models.Day)
}

// chartStatuses are the statuses in the order in which the chart stacks them, lowest first.
var chartStatuses = []sites.Status{sites.Indexed, sites.Submitted, sites.Pending, sites.NotIndexed, sites.Failed}

const ticks = 4 // labels on the time axis

// chart returns the coverage chart: one bar per day. Days without data have no bar.
func (v Site) chart() ui.BarChart {
	c := ui.BarChart{
		Label: fmt.Sprintf("Pages by status over the last %s. Now: %s", v.Place.Range.words(), countsText(v.Counts.ByStatus)),
		Empty: "No pages in this period", Legend: coverageLegend(v),
	}
	for _, s := range chartStatuses {
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
		bar := ui.Bar{Counts: make([]int64, len(chartStatuses)), Title: dayOf(at) + "\nno data"}
		if ok {
			bar.Title = dayOf(at) + "\n" + countsText(d.ByStatus)
			for j, s := range chartStatuses {
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

// countsText formats counts by status, such as "3 indexed, 1 failed".
func countsText(counts map[sites.Status]int) string {
	var all []string
	for _, s := range chartStatuses {
		if n := counts[s]; n > 0 {
			all = append(all, ui.Count(n)+" "+pageWords[s])
		}
	}
	if len(all) == 0 {
		return "no pages"
	}
	return strings.Join(all, ", ")
}
