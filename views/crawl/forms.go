package crawl

import (
	"strconv"
	"strings"

	"linkwatch/models/crawl"
	"linkwatch/views/ui"
)

// AddForm is the form that adds a job and its source, with its errors.
type AddForm struct {
	URL string
	SourceForm
	Schedule     string // see ScheduleValue
	RunNow       bool   // start the first run immediately
	RetryNextRun bool
	Open         bool // show the collapsed fields
}

// NewAddForm returns the form with default values.
func NewAddForm(url string) AddForm {
	return AddForm{
		URL: url, Schedule: ScheduleValue(crawl.Interval{Count: 1, Type: crawl.Days}), RunNow: true, RetryNextRun: true,
		SourceForm: SourceForm{Depth: strconv.Itoa(crawl.DefaultDepth), RateLimit: strconv.Itoa(crawl.DefaultRateLimit)},
	}
}

// SourceForm is the form of a source, with its errors.
type SourceForm struct {
	Name, Depth, RateLimit, Domains string
	Enabled                         bool
	Private                         bool
	Open                            bool
	Errors                          ui.Errors
}

// SourceFormOf returns the form filled in from a source.
func SourceFormOf(s crawl.Source) SourceForm {
	return SourceForm{
		Name: s.Name, Depth: strconv.Itoa(s.Depth()), RateLimit: strconv.Itoa(s.RateLimitMS),
		Domains: strings.Join(s.AllowedDomains, " "), Enabled: s.Enabled, Private: s.Private(),
	}
}

// JobForm is the form of a job, with its errors.
type JobForm struct {
	Name, Schedule, Retries, Backoff string
	Adaptive, RetryNextRun           bool
	Open                             bool
	Errors                           ui.Errors
}

// JobFormOf returns the form filled in from a job.
func JobFormOf(j crawl.Job) JobForm {
	return JobForm{
		Name: j.Name, Schedule: ScheduleValue(j.Interval()), Adaptive: j.AdaptiveScheduling, RetryNextRun: j.RetryNextRun,
		Retries: strconv.Itoa(j.MaxRetries), Backoff: strconv.Itoa(j.RetryBackoffSeconds),
	}
}

// expanded reports whether the collapsed fields are shown, for example because one of them has an error.
func (f AddForm) expanded() bool {
	return f.Open || len(f.Errors) > 1 || len(f.Errors) == 1 && f.Errors["url"] == ""
}

// schedules are the intervals that the form offers.
var schedules = []crawl.Interval{
	{Type: crawl.Hours}, {Count: 1, Type: crawl.Hours}, {Count: 6, Type: crawl.Hours}, {Count: 1, Type: crawl.Days}, {Count: 7, Type: crawl.Days},
}

const once = "once"

// ScheduleValue formats an interval as a form value: "once", "6 hours".
func ScheduleValue(i crawl.Interval) string {
	if !i.Recurring() {
		return once
	}
	return strconv.Itoa(i.Count) + " " + string(i.Type)
}

// ParseSchedule parses the output of ScheduleValue. Its errors are those of ParseInterval.
func ParseSchedule(value string) (crawl.Interval, error) {
	if value == once {
		return crawl.Interval{Type: crawl.Hours}, nil
	}
	count, unit, _ := strings.Cut(value, " ")
	n, err := strconv.Atoi(count)
	if err != nil {
		n = -1 // ParseInterval says what is allowed
	}
	return crawl.ParseInterval(&n, unit)
}

// scheduleOptions returns the intervals to choose from, in ascending order: schedules, and
// the chosen one in its own unit.
func scheduleOptions(chosen string) []crawl.Interval {
	own, err := ParseSchedule(chosen)
	if err != nil {
		return schedules
	}
	var all []crawl.Interval
	for _, i := range schedules {
		if own.Duration() == i.Duration() {
			i = own
		} else if own.Duration() < i.Duration() && (len(all) == 0 || all[len(all)-1].Duration() < own.Duration()) {
			all = append(all, own)
		}
		all = append(all, i)
	}
	if all[len(all)-1].Duration() < own.Duration() {
		all = append(all, own)
	}
	return all
}

// depthOptions returns the depths to choose from, including the chosen one.
func depthOptions(chosen string) []int {
	all := []int{}
	for n := 1; n <= crawl.DeepCrawl; n++ {
		all = append(all, n)
	}
	if own, err := strconv.Atoi(chosen); err == nil && own > crawl.DeepCrawl && own <= crawl.MaxDepth {
		all = append(all, own)
	}
	return all
}

// Labels are the labels of the forms, for error messages.
var Labels = map[string]string{
	"url": "URL", "source_id": "Source", "name": "Name", "max_depth": "Depth", "rate_limit_ms": "Delay between requests",
	"allowed_domains": "Allowed domains", "interval_minutes": "Schedule", "max_retries": "Retries", "retry_backoff_seconds": "Retry delay",
}

// EditedSource are the stored values of the form of a source.
func EditedSource(s crawl.Source) ui.Edited {
	f := SourceFormOf(s)
	return ui.Edited{}.Text("name", Labels["name"], f.Name).Text("max_depth", Labels["max_depth"], f.Depth).
		Text("rate_limit_ms", Labels["rate_limit_ms"], f.RateLimit).Text("allowed_domains", Labels["allowed_domains"], f.Domains).
		Tick("enabled", "Enabled", f.Enabled).Tick("private", "Private", f.Private)
}

// EditedJob are the stored values of the form of a job.
func EditedJob(j crawl.Job) ui.Edited {
	f := JobFormOf(j)
	return ui.Edited{}.Text("name", Labels["name"], f.Name).Text("schedule", Labels["interval_minutes"], f.Schedule).
		Tick("retry_next_run", "Run again as planned", f.RetryNextRun).Tick("adaptive_scheduling", "Adaptive scheduling", f.Adaptive).
		Text("max_retries", Labels["max_retries"], f.Retries).Text("retry_backoff_seconds", Labels["retry_backoff_seconds"], f.Backoff)
}
