package crawl

import (
	"fmt"
	"time"

	"linkwatch/models/crawl"
	"linkwatch/views/ui"
)

// SchedulePath is the address of the page of the schedule.
const SchedulePath = "/crawl/schedule"

// Schedule is the page of how jobs are spread over the next day.
type Schedule struct {
	ui.Page
	Slots []crawl.Slot
	Score float64
	Plan  crawl.Plan
	Jobs  map[int64]crawl.Job // those of ShownMoves, by Job.Seq
}

const (
	maxMoves      = 100 // moves that the page shows
	unevenBelow   = 0.7 // a rebalance is suggested
	scheduleTicks = 4   // as many as the chart has columns for
)

// ShownMoves are the moves that the page shows.
func (v Schedule) ShownMoves() []crawl.Move { return v.Plan.Moves[:min(len(v.Plan.Moves), maxMoves)] }

// runs is how many runs the day has, a slot counted once for each job.
func (v Schedule) runs() (n int) {
	for _, s := range v.Slots {
		n += s.Jobs
	}
	return n
}

// most is the fullest slot, the first of several.
func (v Schedule) most() (most crawl.Slot) {
	for _, s := range v.Slots {
		if s.Jobs > most.Jobs {
			most = s
		}
	}
	return most
}

// spread is how even a score is, in words.
func spread(score float64) string {
	switch {
	case score >= 0.9:
		return "even"
	case score >= unevenBelow:
		return "fairly even"
	}
	return "uneven"
}

// advice says what to do about the schedule.
func (v Schedule) advice() string {
	n := len(v.Plan.Moves)
	switch {
	case v.Score < unevenBelow && n > 0:
		return fmt.Sprintf("Many jobs run at the same time. Rebalance to move %s.", ui.Plural(n, "job"))
	case v.Score < unevenBelow:
		return "Many jobs run at the same time, but none can move now. Try again in an hour."
	case n > 0:
		return fmt.Sprintf("There is no need to rebalance. It would move %s.", ui.Plural(n, "job"))
	}
	return "There is nothing to move."
}

// scoreText is a score as people read it: "0.96".
func scoreText(score float64) string { return fmt.Sprintf("%.2f", score) }

// minute is a time of the schedule: "24 Mar, 14:15".
func minute(t time.Time) string { return t.UTC().Format("2 Jan, 15:04") }

// slotTime is when a slot is: "24 Mar, 14:15 to 14:30".
func slotTime(s crawl.Slot) string {
	return minute(s.Start) + " to " + s.Start.Add(crawl.SlotLength).UTC().Format("15:04")
}

// chart is the slots as the chart draws them.
func (v Schedule) chart() ui.BarChart {
	most := v.most()
	c := ui.BarChart{
		Label: fmt.Sprintf("Jobs in each 15 minutes of the next 24 hours: %s in all, at most %s at once, from %s", ui.Plural(v.runs(), "run"), ui.Plural(most.Jobs, "job"), minute(most.Start)),
		Parts: []string{"jobs"},
	}
	for _, s := range v.Slots {
		c.Bars = append(c.Bars, ui.Bar{Counts: []int64{int64(s.Jobs)}, Title: slotTime(s) + "\n" + ui.Plural(s.Jobs, "job")})
	}
	for i := range scheduleTicks {
		if n := len(v.Slots); n > 0 {
			c.Ticks = append(c.Ticks, minute(v.Slots[n*i/scheduleTicks].Start))
		}
	}
	return c
}

// hour is an hour of the schedule with the jobs of its slots.
type hour struct {
	start time.Time
	jobs  [int(time.Hour / crawl.SlotLength)]int
	has   [int(time.Hour / crawl.SlotLength)]bool // slots that are in the window
}

// hours are the slots by hour.
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

// in is what the table says of a slot of the hour.
func (h hour) in(slot int) string {
	if !h.has[slot] {
		return "–"
	}
	return ui.Count(h.jobs[slot])
}

// jobOf is the job that a move is about.
func (v Schedule) jobOf(m crawl.Move) crawl.Job { return v.Jobs[m.Seq] }

// later is how much later a move makes a run: "+2 h 15 min".
func later(m crawl.Move) string {
	d := m.To.Sub(m.From)
	if d < 0 {
		return "−" + ui.Lasted(-d)
	}
	return "+" + ui.Lasted(d)
}
