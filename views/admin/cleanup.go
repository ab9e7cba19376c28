package admin

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"linkwatch/models"
	"linkwatch/models/cleanup"
	"linkwatch/models/schedule"
	"linkwatch/models/shortlinks"
	"linkwatch/views/ui"
)

// Cleanup is the page of the reaper and its statistics.
type Cleanup struct {
	ui.Page
	Enabled bool             // CLEANUP_ENABLED: short links are deleted too
	Job     schedule.Job     // the reaper's
	Totals  []cleanup.Totals // of all kinds
	Runs    []cleanup.Run    // as the store gives them
	Waiting int              // short links that a run would delete now, counted up to cleanup.MaxWaiting + 1
}

// reaped are the kinds in words.
var reaped = map[string]struct{ name, which string }{
	cleanup.ShortLinks:      {"Short links", "with their visits, CLEANUP_BUFFER_TIME after they ended or a day after they were deleted"},
	cleanup.VisitDays:       {"Visits by day", fmt.Sprintf("of short links, older than %d days", shortlinks.KeepDays)},
	cleanup.IdempotencyKeys: {"Idempotency keys", fmt.Sprintf("older than %.0f hours", models.KeepKeys.Hours())},
	cleanup.CheckResults:    {"Check results", "of targets, older than RESULT_RETENTION"},
	cleanup.Tags:            {"Tags", "without links"},
}

// of is the totals of a kind.
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
	if v.Job.LastError != "" && !v.Job.Running {
		return "dead"
	}
	return "ok"
}

// whyNot is why a run cannot be requested now; "" = it can.
func (v Cleanup) whyNot() string {
	switch {
	case v.Job.Running:
		return "It is running already."
	case !v.Job.RequestedAt.IsZero():
		return "It starts within moments."
	}
	return ""
}

// waits says how many short links the next run deletes, or, while CLEANUP_ENABLED
// is false, how many are kept that it would delete.
func (v Cleanup) waits() string {
	n := ui.Plural(v.Waiting, "short link")
	verb := "are"
	switch {
	case v.Waiting > cleanup.MaxWaiting:
		n = "More than " + ui.Plural(cleanup.MaxWaiting, "short link")
	case v.Waiting == 1:
		verb = "is"
	case v.Waiting == 0:
		n = "No short links"
	}
	switch {
	case v.Enabled:
		return n + " " + verb + " waiting to be deleted."
	case v.Waiting == 0:
		return "Short links are not deleted, because CLEANUP_ENABLED is false."
	}
	return "Short links are not deleted, because CLEANUP_ENABLED is false. " + n + " " + verb + " kept that would be deleted otherwise."
}

// did is how many short links were deleted so far, as a sentence.
func (v Cleanup) did() string {
	t := v.of(cleanup.ShortLinks)
	if t.SuccessfulRuns+t.FailedRuns == 0 {
		return ""
	}
	s := fmt.Sprintf("So far %s %s deleted in %s", ui.Plural(t.Cleaned, "short link"), were(t.Cleaned), ui.Plural(t.SuccessfulRuns+t.FailedRuns, "run"))
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
	at         models.Time
	shortLinks int64
	others     int64
	took       time.Duration
	errors     []string
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
		if r.Kind == cleanup.ShortLinks {
			of.shortLinks += r.Cleaned
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
	var links, others int64
	bars := make([]ui.Bar, max(leastBars-len(runs), 0), max(leastBars, len(runs)))
	times := make([]string, len(bars), cap(bars))
	for _, r := range runs {
		links, others = links+r.shortLinks, others+r.others
		title := fmt.Sprintf("%s\n%s, %s in %s", r.at.Format("2 Jan, 15:04:05"), ui.Plural(r.shortLinks, "short link"), ui.Plural(r.others, "other row"), ui.Took(r.took))
		if len(r.errors) > 0 {
			title += "\nfailed"
		}
		bars = append(bars, ui.Bar{Counts: []int64{r.shortLinks, r.others}, Title: title})
		times = append(times, r.at.Format("2 Jan, 15:04"))
	}
	c := ui.BarChart{
		Label: fmt.Sprintf("What the last %s deleted: %s, %s", ui.Plural(len(runs), "run"), ui.Plural(links, "short link"), ui.Plural(others, "other row")),
		Parts: []string{"short links", "other rows"},
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
