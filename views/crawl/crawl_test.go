package crawl

import (
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/crawl"
)

// TestScheduleChoices tests that the interval of a job is always an option, in its own unit.
func TestScheduleChoices(t *testing.T) {
	for chosen, want := range map[string]string{
		"1 days":       "once, 1 hours, 6 hours, 1 days, 7 days",
		"once":         "once, 1 hours, 6 hours, 1 days, 7 days",
		"24 hours":     "once, 1 hours, 6 hours, 24 hours, 7 days",
		"60 minutes":   "once, 60 minutes, 6 hours, 1 days, 7 days",
		"15 minutes":   "once, 15 minutes, 1 hours, 6 hours, 1 days, 7 days",
		"2 days":       "once, 1 hours, 6 hours, 1 days, 2 days, 7 days",
		"30 days":      "once, 1 hours, 6 hours, 1 days, 7 days, 30 days",
		"soon":         "once, 1 hours, 6 hours, 1 days, 7 days",
		"9999999 days": "once, 1 hours, 6 hours, 1 days, 7 days",
	} {
		var got []string
		for _, i := range scheduleOptions(chosen) {
			got = append(got, ScheduleValue(i))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: got %q, want %q", chosen, got, want)
		}
	}
}

func FuzzParseSchedule(f *testing.F) {
	for _, seed := range []string{"once", "1 days", "90 minutes", "0 hours", "-1 days", "1 weeks", "", "1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		i, err := ParseSchedule(value)
		if err != nil {
			return
		}
		if again, err := ParseSchedule(ScheduleValue(i)); err != nil || again.Duration() != i.Duration() || i.Recurring() != (i.Duration() > 0) {
			t.Errorf("%q: got %+v, parsed again as %+v (error %v)", value, i, again, err)
		}
	})
}

func TestFormatSchedule(t *testing.T) {
	for want, j := range map[string]crawl.Job{
		"once":                   {},
		"every week":             {IntervalCount: 7, IntervalType: crawl.Days, IntervalSeconds: 7 * 24 * 3600},
		"every 90 minutes":       {IntervalCount: 90, IntervalType: crawl.Minutes, IntervalSeconds: 90 * 60},
		"every 4 hours, adapted": {IntervalCount: 1, IntervalType: crawl.Hours, IntervalSeconds: 4 * 3600, AdaptiveScheduling: true},
	} {
		if got := schedule(j); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestStatusText(t *testing.T) {
	for want, j := range map[string]crawl.Job{
		"": {Status: crawl.Running, CurrentRetryCount: 1},
		"The source is disabled, so this job does not run.":                                       {Status: crawl.Scheduled, SourceDisabled: true},
		"The last run failed and is retried.":                                                     {Status: crawl.Pending, CurrentRetryCount: 2, MaxRetries: 3, NextRunAt: models.At(time.Now())},
		"Paused jobs do not run until you resume them.":                                           {Status: crawl.Paused, SourceDisabled: true},
		"The last run failed, and automatic retries are off. Press Retry to run the crawl again.": {Status: crawl.Failed},
		"The last run failed, and automatic retries are off. The schedule is stopped. Press Retry to run the crawl and resume the schedule.": {
			Status: crawl.Failed, IntervalCount: 1,
		},
		"The last run and all automatic retries failed. Press Retry to run the crawl again.": {Status: crawl.Failed, CurrentRetryCount: 3, MaxRetries: 3},
		"Cancelled jobs do not run again. Run again adds a new job.":                         {Status: crawl.Cancelled},
		"The last run failed, and automatic retries are off. The job has failed 3 times in a row. It runs again at its next planned time.": {
			Status: crawl.Failed, IntervalCount: 1, RetryNextRun: true, PlannedAt: models.At(time.Now()), ConsecutiveFailures: 3,
		},
	} {
		if got := statusText(j); got != want {
			t.Errorf("%s: got %q, want %q", j.Status, got, want)
		}
	}
}

func TestSpeed(t *testing.T) {
	started := models.At(time.Date(2026, 3, 24, 12, 0, 0, 0, time.UTC))
	e := crawl.Execution{StartedAt: started, ItemsCrawled: 45}
	for duration, want := range map[time.Duration]string{0: "–", 900 * time.Millisecond: "–", 30 * time.Second: "1.5", -time.Second: "–"} {
		if got := pagesPerSecond(e, started.Add(duration).Time); got != want {
			t.Errorf("45 pages in %s: got %s per second, want %s", duration, got, want)
		}
	}
}

func TestCrawlPlaces(t *testing.T) {
	at := Place{JobFilter: crawl.JobFilter{Text: "x&y", Status: crawl.Failed}, Token: "abc"}
	front := FrontierPlace{EntryFilter: crawl.EntryFilter{Status: crawl.EntryDone, SourceID: "s_1", ExecutionID: "e_1"}, Token: "abc"}
	for want, got := range map[string]string{
		"/crawl": Place{}.Path(),
		"/crawl?page_token=abc&q=x%26y&status=failed":                         at.Path(),
		"/crawl?q=x%26y&status=paused":                                        at.withStatus(crawl.Paused).Path(),
		"/crawl?q=x%26y&status=failed":                                        at.after(models.Cursor{}).Path(),
		"/crawl/jobs/j_1?execution=e_1":                                       JobPlace{ID: "j_1"}.withExecution("e_1").Path(),
		"/crawl/frontier?execution=e_1&page_token=abc&source=s_1&status=done": front.Path(),
		"/crawl/frontier?execution=e_1&status=done":                           front.withSource("").Path(),
		"/crawl/frontier?source=s_1&status=done":                              front.withExecution("").Path(),
		"/crawl/frontier?execution=e_1&source=s_1&status=failed":              front.withStatus(crawl.EntryFailed).Path(),
		"/crawl/discovered?source=s_1":                                        DiscoveredPlace{Token: "abc"}.withSource("s_1").Path(),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
