package admin

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"linkwatch/models"
	"linkwatch/models/cleanup"
	"linkwatch/models/schedule"
	"linkwatch/views/ui"
)

// Cleanup is the page of the reaper and its statistics.
type Cleanup struct {
	ui.Page
	Kinds   []cleanup.Kind   // all that is deleted
	Main    cleanup.Kind     // the one that the figures at the top are of
	Job     schedule.Job     // the reaper's
	Totals  []cleanup.Totals // of all kinds
	Runs    []cleanup.Run    // as the store gives them
	Waiting int              // rows of Main that a run would delete now, counted up to cleanup.MaxWaiting + 1
}

// kind is a kind by its name.
func (v Cleanup) kind(name string) cleanup.Kind {
	for _, k := range v.Kinds {
		if k.Kind == name {
			return k
		}
	}
	return cleanup.Kind{Kind: name}
}

// main is n rows of the main kind in words: "1 short link".
func (v Cleanup) main(n int64) string { return ui.Count(n) + " " + v.Main.Noun(n) }

// of are the totals of a kind.
func (v Cleanup) of(kind string) cleanup.Totals {
	for _, t := range v.Totals {
		if t.Kind == kind {
			return t
		}
	}
	return cleanup.Totals{Kind: kind}
}

// class is the CSS class of the panel with the reaper's status.
func (v Cleanup) class() string {
	if v.Job.LastError != "" && !v.Job.Running() {
		return "dead"
	}
	return "ok"
}

// whyNot is why a run cannot be requested now; "" = it can.
func (v Cleanup) whyNot() string {
	switch {
	case v.Job.Running():
		return "It is running already."
	case !v.Job.RequestedAt.IsZero():
		return "It starts within moments."
	}
	return ""
}

// waits says how many rows of the main kind the next run deletes, or, while
// they are kept, how many there are that it would delete.
func (v Cleanup) waits() string {
	n := v.main(int64(v.Waiting))
	verb := "are"
	switch {
	case v.Waiting > cleanup.MaxWaiting:
		n = "More than " + v.main(cleanup.MaxWaiting)
	case v.Waiting == 1:
		verb = "is"
	case v.Waiting == 0:
		n = "No " + v.Main.Noun(0)
	}
	kept := v.Main.Label + " are not deleted, because " + v.Main.Kept + "."
	switch {
	case v.Main.Kept == "":
		return n + " " + verb + " waiting to be deleted."
	case v.Waiting == 0:
		return kept
	}
	return kept + " " + n + " " + verb + " kept that would be deleted otherwise."
}

// did says how many rows of the main kind were deleted so far.
func (v Cleanup) did() string {
	t := v.of(v.Main.Kind)
	if t.SuccessfulRuns+t.FailedRuns == 0 {
		return ""
	}
	s := fmt.Sprintf("So far %s %s deleted in %s", v.main(t.Cleaned), were(t.Cleaned), ui.Plural(t.SuccessfulRuns+t.FailedRuns, "run"))
	if t.FailedRuns > 0 {
		s += ", of which " + ui.Count(t.FailedRuns) + " failed"
	}
	return s + "."
}

func were(n int64) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// reaperRun is one run over all kinds.
type reaperRun struct {
	at     models.Time
	main   int64 // rows of the main kind
	others int64 // all other rows
	took   time.Duration
	errors []string
}

// runs are the last runs, the newest first.
func (v Cleanup) runs() []reaperRun {
	var all []reaperRun
	for _, r := range v.Runs {
		if len(all) == 0 || all[len(all)-1].at != r.StartedAt {
			all = append(all, reaperRun{at: r.StartedAt})
		}
		of := &all[len(all)-1]
		of.took += r.Duration
		if r.Kind == v.Main.Kind {
			of.main += r.Cleaned
		} else {
			of.others += r.Cleaned
		}
		if r.Error != "" {
			of.errors = append(of.errors, r.Error)
		}
	}
	return all
}

func (r reaperRun) error() string { return strings.Join(r.errors, "; ") }

// leastBars is the least number of bars in the chart.
const leastBars = 40

// cleanupTicks is the number of times below the chart.
const cleanupTicks = 4

// chart is the runs as the chart draws them, the oldest first.
func (v Cleanup) chart() ui.BarChart {
	runs := v.runs()
	slices.Reverse(runs)
	var main, others int64
	bars := make([]ui.Bar, max(leastBars-len(runs), 0), max(leastBars, len(runs)))
	times := make([]string, len(bars), cap(bars))
	for _, r := range runs {
		main, others = main+r.main, others+r.others
		title := fmt.Sprintf("%s\n%s, %s in %s", r.at.Format("2 Jan, 15:04:05"), v.main(r.main), ui.Plural(r.others, "other row"), ui.Took(r.took))
		if len(r.errors) > 0 {
			title += "\nfailed"
		}
		bars = append(bars, ui.Bar{Counts: []int64{r.main, r.others}, Title: title})
		times = append(times, r.at.Format("2 Jan, 15:04"))
	}
	c := ui.BarChart{
		Label: fmt.Sprintf("What the last %s deleted: %s, %s", ui.Plural(len(runs), "run"), v.main(main), ui.Plural(others, "other row")),
		Parts: []string{v.Main.Noun(0), "other rows"},
		Bars:  bars,
		Empty: "These runs found nothing to delete",
	}
	for i := range cleanupTicks {
		c.Ticks = append(c.Ticks, times[len(times)*i/cleanupTicks])
	}
	return c
}

// lasted is how long each run took in milliseconds, the oldest first.
func (v Cleanup) lasted() []int {
	runs := v.runs()
	ms := make([]int, 0, len(runs))
	for _, r := range slices.Backward(runs) {
		ms = append(ms, int(r.took.Milliseconds()))
	}
	return ms
}

// average is how long a successful run took, in words.
func average(t cleanup.Totals) string {
	if t.SuccessfulRuns == 0 {
		return "–"
	}
	return ui.Took(t.Average())
}

// failedRuns is how many of the last runs failed, in words; "" = none.
func (v Cleanup) failedRuns() string {
	n := 0
	for _, r := range v.runs() {
		if len(r.errors) > 0 {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return ui.Count(n) + " failed"
}
