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

// every is the time between two runs in words: "once", "every day".
func every(d time.Duration) string {
	switch d {
	case 0:
		return "once"
	case week:
		return "every week"
	}
	return ui.Every(d)
}

// schedule is when a job runs, in words: "once", "every 2 days, adapted".
func schedule(j crawl.Job) string {
	if j.Every() != j.Interval().Duration() {
		return every(j.Every()) + ", adapted"
	}
	return every(j.Every())
}

// where is a URL without its scheme: "example.com/a".
func where(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		return strings.TrimSuffix(rest, "/")
	}
	return url
}

// finished is how many of the URLs that an execution knows need no more work.
func finished(e crawl.Execution) int { return e.Fetched + e.Failed }

// speed is how many pages an execution stored in a second.
func speed(e crawl.Execution, now time.Time) string {
	took := e.Duration(models.At(now)).Seconds()
	if took < 1 {
		return "–"
	}
	return fmt.Sprintf("%.1f", float64(e.ItemsCrawled)/took)
}

// retries says how often a failed run is tried again.
func retries(j crawl.Job) string {
	if j.MaxRetries == 0 {
		return "none"
	}
	return fmt.Sprintf("%d, first after %s", j.MaxRetries, ui.Lasted(time.Duration(j.RetryBackoffSeconds)*time.Second))
}

// domains are where a crawl of a source may go.
func domains(s crawl.Source) string {
	if len(s.AllowedDomains) == 0 {
		return s.Host
	}
	return strings.Join(s.AllowedDomains, ", ")
}

// pause is the time between two requests to a host.
func pause(s crawl.Source) string {
	if s.RateLimitMS == 0 {
		return "none"
	}
	return ui.Latency(s.RateLimitMS)
}

// waits reports whether a job waits for its next run.
func waits(j crawl.Job) bool {
	return !j.Held && !j.NextRunAt.IsZero() && (j.Status == crawl.Pending || j.Status == crawl.Scheduled)
}

// statusText is a sentence about the status of a job; "" = the word says it all.
func statusText(j crawl.Job) string {
	switch {
	case j.Held && (j.Status == crawl.Pending || j.Status == crawl.Scheduled):
		return "Its source is disabled, so it does not run."
	case j.CurrentRetryCount > 0 && j.Status == crawl.Pending:
		return fmt.Sprintf("The last run failed. This is retry %d of %d.", j.CurrentRetryCount, j.MaxRetries)
	case j.Status == crawl.Paused:
		return "It does not run until it is resumed."
	case j.Status == crawl.Cancelled:
		return "It does not run again."
	case j.Status == crawl.Failed:
		return "It does not run again until it is retried."
	}
	return ""
}
