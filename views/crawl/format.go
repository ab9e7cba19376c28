package crawl

import (
	"fmt"
	"strings"
	"time"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/views/ui"
)

const week = 7 * models.Day

// every formats the interval of a job: "once", "every day".
func every(d time.Duration) string {
	switch d {
	case 0:
		return "once"
	case week:
		return "every week"
	}
	return ui.Every(d)
}

// schedule formats the schedule of a job: "once", "every 2 days, adapted".
func schedule(j crawl.Job) string {
	if j.EffectiveInterval() != j.Interval().Duration() {
		return every(j.EffectiveInterval()) + ", adapted"
	}
	return every(j.EffectiveInterval())
}

// displayURL returns a URL without its scheme: "example.com/a".
func displayURL(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		return strings.TrimSuffix(rest, "/")
	}
	return url
}

// finished is the number of URLs of an execution that were fetched or failed.
func finished(e crawl.Execution) int { return e.Fetched + e.Failed }

// pagesPerSecond formats how many pages an execution stores per second.
func pagesPerSecond(e crawl.Execution, now time.Time) string {
	took := e.Duration(models.At(now)).Seconds()
	if took < 1 {
		return "–"
	}
	return fmt.Sprintf("%.1f", float64(e.ItemsCrawled)/took)
}

// retryText formats the retries of a job: "3, first after 1 min, then at the next planned time".
func retryText(j crawl.Job) string {
	var parts []string
	if j.MaxRetries > 0 {
		parts = append(parts, retriesText(j))
	}
	if j.Recurring() && j.RetryNextRun {
		parts = append(parts, "at the next planned time")
	}
	if len(parts) == 0 {
		return "off"
	}
	return strings.Join(parts, ", then ")
}

func retriesText(j crawl.Job) string {
	return fmt.Sprintf("%d, first after %s", j.MaxRetries, ui.LongDuration(time.Duration(j.RetryBackoffSeconds)*time.Second))
}

// domainText formats the allowed domains of a source.
func domainText(s crawl.Source) string {
	if len(s.AllowedDomains) == 0 {
		return s.Authority()
	}
	return strings.Join(s.AllowedDomains, ", ")
}

// endText is why an execution ended without success, and by whom: "the run was stopped by alice".
func endText(e crawl.Execution) string {
	if e.CancelledBy == "" {
		return e.ErrorMessage
	}
	return e.ErrorMessage + " by " + e.CancelledBy
}

// endClass is the class of endText: red for a failure.
func endClass(e crawl.Execution) string {
	if e.CancelledBy == "" {
		return "failure"
	}
	return "muted"
}

// pauseText formats the delay between two requests to a host.
func pauseText(s crawl.Source) string {
	if s.RateLimitMS == 0 {
		return "none"
	}
	return ui.ResponseTime(s.RateLimitMS)
}

// retryNumber names the automatic retry for which a job waits: "retry 2 of 3"; "" if it waits for none.
func retryNumber(j crawl.Job) string {
	if !j.WaitsForRetry() {
		return ""
	}
	return fmt.Sprintf("retry %d of %d", j.CurrentRetryCount, j.MaxRetries)
}

// statusText explains the status of a job; "" if the status needs no explanation.
func statusText(j crawl.Job) string {
	switch {
	case j.SourceDisabled && (j.Status == crawl.Pending || j.Status == crawl.Scheduled):
		return "The source is disabled, so this job does not run."
	case j.WaitsForRetry():
		return "The last run failed and is retried."
	case j.Status == crawl.Paused:
		return "Paused jobs do not run until you resume them."
	case j.Status == crawl.Cancelled:
		return "Cancelled jobs do not run again. Run again adds a new job."
	case j.Status == crawl.Failed:
		what, retry := "The last run and all automatic retries failed.", "Press Retry to run the crawl again."
		if j.MaxRetries == 0 {
			what = "The last run failed, and automatic retries are off."
		}
		if j.ConsecutiveFailures > 1 {
			what += " The job has failed " + ui.Plural(j.ConsecutiveFailures, "time") + " in a row."
		}
		switch {
		case !j.NextRun().IsZero():
			retry = "It runs again at its next planned time."
		case j.Recurring():
			retry = "The schedule is stopped. Press Retry to run the crawl and resume the schedule."
		}
		return what + " " + retry
	}
	return ""
}
