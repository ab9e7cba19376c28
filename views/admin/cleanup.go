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
	Kinds   []cleanup.Kind   // all kinds that are deleted
	Main    cleanup.Kind     // kind of the figures at the top
	Job     schedule.Job     // job of the reaper
	Totals  []cleanup.Totals // of all kinds
	Runs    []cleanup.Run    // from the store, newest first
	Waiting int              // expired rows of Main, counted up to cleanup.MaxWaiting + 1
}

func (v Cleanup) kind(name string) cleanup.Kind {
	for _, k := range v.Kinds {
		if k.Kind == name {
			return k
		}
	}
	return cleanup.Kind{Kind: name}
}

// main returns a count of the main kind: "1 short link".
func (v Cleanup) main(n int64) string { return ui.Count(n) + " " + v.Main.Noun(n) }

func (v Cleanup) totals(kind string) cleanup.Totals {
	for _, t := range v.Totals {
		if t.Kind == kind {
			return t
		}
	}
	return cleanup.Totals{Kind: kind}
}

// class returns the CSS class of the status panel.
func (v Cleanup) class() string {
	if v.Job.LastError != "" && !v.Job.Running() {
		return "dead"
	}
	return "ok"
}

// disabledReason returns why a run cannot be requested; "" = it can.
func (v Cleanup) disabledReason() string {
	switch {
	case v.Job.Running():
		return "Already running."
	case !v.Job.RequestedAt.IsZero():
		return "Starts in a few seconds."
	}
	return ""
}

// backlog returns a sentence with the number of expired rows of the main kind, and whether they will
// be deleted.
func (v Cleanup) backlog() string {
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
	return kept + " " + n + " " + verb + " expired."
}

// deleted returns a sentence with the number of deleted rows of the main kind.
func (v Cleanup) deleted() string {
	t := v.totals(v.Main.Kind)
	if t.SuccessfulRuns+t.FailedRuns == 0 {
		return ""
	}
	s := fmt.Sprintf("%s %s been deleted in %s", v.main(t.Cleaned), have(t.Cleaned), ui.Plural(t.SuccessfulRuns+t.FailedRuns, "run"))
	if t.FailedRuns > 0 {
		s += " (" + ui.Count(t.FailedRuns) + " failed)"
	}
	return s + "."
}

func have(n int64) string {
	if n == 1 {
		return "has"
	}
	return "have"
}

// reaperRun is one run over all kinds.
type reaperRun struct {
	at     models.Time
	main   int64 // rows of the main kind
	others int64 // all other rows
	took   time.Duration
	errors []string
}

// runs returns the last runs, newest first.
func (v Cleanup) runs() []reaperRun {
	var all []reaperRun
	for _, r := range v.Runs {
		if len(all) == 0 || all[len(all)-1].at != r.StartedAt {
			all = append(all, reaperRun{at: r.StartedAt})
		}
		run := &all[len(all)-1]
		run.took += r.Duration
		if r.Kind == v.Main.Kind {
			run.main += r.Cleaned
		} else {
			run.others += r.Cleaned
		}
		if r.Error != "" {
			run.errors = append(run.errors, r.Error)
		}
	}
	return all
}

func (r reaperRun) error() string { return strings.Join(r.errors, "; ") }

// minBars is the minimum number of bars in the chart.
const minBars = 40

// cleanupTicks is the number of labels on the x axis.
const cleanupTicks = 4

// chart returns the bar chart of the runs, oldest first.
func (v Cleanup) chart() ui.BarChart {
	runs := v.runs()
	slices.Reverse(runs)
	var main, others int64
	bars := make([]ui.Bar, max(minBars-len(runs), 0), max(minBars, len(runs)))
	times := make([]string, len(bars), cap(bars))
	for _, r := range runs {
		main, others = main+r.main, others+r.others
		title := fmt.Sprintf("%s\n%s, %s in %s", r.at.Format("2 Jan, 15:04:05"), v.main(r.main), ui.Plural(r.others, "other row"), ui.ShortDuration(r.took))
		if len(r.errors) > 0 {
			title += "\nfailed"
		}
		bars = append(bars, ui.Bar{Counts: []int64{r.main, r.others}, Title: title})
		times = append(times, r.at.Format("2 Jan, 15:04"))
	}
	c := ui.BarChart{
		Label: fmt.Sprintf("Deleted in the last %s: %s, %s", ui.Plural(len(runs), "run"), v.main(main), ui.Plural(others, "other row")),
		Parts: []string{v.Main.Noun(0), "other rows"},
		Bars:  bars,
		Empty: "Nothing deleted in these runs",
	}
	for i := range cleanupTicks {
		c.Ticks = append(c.Ticks, times[len(times)*i/cleanupTicks])
	}
	return c
}

// durations returns the durations of the runs in milliseconds, oldest first.
func (v Cleanup) durations() []int {
	runs := v.runs()
	ms := make([]int, 0, len(runs))
	for _, r := range slices.Backward(runs) {
		ms = append(ms, int(r.took.Milliseconds()))
	}
	return ms
}

// average formats the average duration of successful runs.
func average(t cleanup.Totals) string {
	if t.SuccessfulRuns == 0 {
		return "–"
	}
	return ui.ShortDuration(t.Average())
}

// failedRuns returns the number of failed runs as text; "" = none.
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
