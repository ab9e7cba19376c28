package crawl

import (
	"fmt"
	"time"

	"linkwatch/models/crawl"
	"linkwatch/views/ui"
)

// SchedulePath is the path of the schedule page.
const SchedulePath = "/crawl/schedule"

// Schedule is the page of the jobs of the next 24 hours.
type Schedule struct {
	ui.Page
	Slots   []crawl.Slot
	Score   float64
	TooMany bool                // runs for a preview; Plan and Jobs are not set
	Plan    crawl.RebalancePlan // what a rebalance would do
	Jobs    map[int64]crawl.Job // the jobs of ShownMoves, by Job.Seq
}

const (
	maxMoves      = 100 // moves that the page shows
	unevenBelow   = 0.7 // score below which the page suggests a rebalance
	scheduleTicks = 4   // labels of the time axis
)

// ShownMoves returns the moves that the page shows.
func (v Schedule) ShownMoves() []crawl.Move { return v.Plan.Moves[:min(len(v.Plan.Moves), maxMoves)] }

// Runs returns the number of runs, counting a job once for each slot.
func (v Schedule) Runs() (n int) {
	for _, s := range v.Slots {
		n += s.Jobs
	}
	return n
}

// busiest returns the slot with the most jobs, the first one if there are several.
func (v Schedule) busiest() (most crawl.Slot) {
	for _, s := range v.Slots {
		if s.Jobs > most.Jobs {
			most = s
		}
	}
	return most
}

func evenness(score float64) string {
	switch {
	case score >= 0.9:
		return "even"
	case score >= unevenBelow:
		return "fairly even"
	}
	return "uneven"
}

// advice says whether a rebalance is worth it.
func (v Schedule) advice() string {
	n := len(v.Plan.Moves)
	switch {
	case v.TooMany && v.Score < unevenBelow:
		return "Many jobs run at the same time. A rebalance may move some of them."
	case v.TooMany:
		return "A rebalance is not needed."
	case v.Score < unevenBelow && n > 0:
		return fmt.Sprintf("Many jobs run at the same time. Rebalance to move %s.", ui.Plural(n, "job"))
	case v.Score < unevenBelow:
		return "Many jobs run at the same time, but none can be moved now. Try again in an hour."
	case n > 0:
		return fmt.Sprintf("A rebalance is not needed. It would move %s.", ui.Plural(n, "job"))
	}
	return "No jobs can be moved."
}

// formatScore formats a score: "0.96".
func formatScore(score float64) string { return fmt.Sprintf("%.2f", score) }

// formatMinute formats a time in UTC: "24 Mar, 14:15".
func formatMinute(t time.Time) string { return t.UTC().Format("2 Jan, 15:04") }

// slotLabel formats the time of a slot: "24 Mar, 14:15 to 14:30".
func slotLabel(s crawl.Slot) string {
	return formatMinute(s.Start) + " to " + s.Start.Add(crawl.SlotLength).UTC().Format("15:04")
}

func (v Schedule) chart() ui.BarChart {
	most := v.busiest()
	c := ui.BarChart{
		Label: fmt.Sprintf("Jobs in each 15 minutes of the next 24 hours: %s in total, at most %s at a time, starting %s", ui.Plural(v.Runs(), "run"), ui.Plural(most.Jobs, "job"), formatMinute(most.Start)),
		Parts: []string{"jobs"},
	}
	for _, s := range v.Slots {
		c.Bars = append(c.Bars, ui.Bar{Counts: []int64{int64(s.Jobs)}, Title: slotLabel(s) + "\n" + ui.Plural(s.Jobs, "job")})
	}
	for i := range scheduleTicks {
		if n := len(v.Slots); n > 0 {
			c.Ticks = append(c.Ticks, formatMinute(v.Slots[n*i/scheduleTicks].Start))
		}
	}
	return c
}

// hour is a row of the table: the jobs of each slot of an hour.
type hour struct {
	start time.Time
	jobs  [int(time.Hour / crawl.SlotLength)]int
	has   [int(time.Hour / crawl.SlotLength)]bool // whether the slot is in the next 24 hours
}

// hours groups the slots by hour.
func (v Schedule) hours() (all []hour) {
	for _, s := range v.Slots {
		start := s.Start.Truncate(time.Hour)
		if len(all) == 0 || !all[len(all)-1].start.Equal(start) {
			all = append(all, hour{start: start})
		}
		h, i := &all[len(all)-1], int(s.Start.Sub(start)/crawl.SlotLength)
		h.jobs[i], h.has[i] = s.Jobs, true
	}
	return all
}

func (h hour) cell(slot int) string {
	if !h.has[slot] {
		return "–"
	}
	return ui.Count(h.jobs[slot])
}

func (v Schedule) jobOf(m crawl.Move) crawl.Job { return v.Jobs[m.Seq] }

// moveDelta formats by how much a move delays a run: "+2 h 15 min".
func moveDelta(m crawl.Move) string {
	d := m.To.Sub(m.From)
	if d < 0 {
		return "−" + ui.LongDuration(-d)
	}
	return "+" + ui.LongDuration(d)
}
