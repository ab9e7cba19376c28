package crawl

import (
	"strconv"
	"strings"

	"linkwatch/models/crawl"
	"linkwatch/views/ui"
)

// AddForm is what was typed for a job and its source, with its errors.
type AddForm struct {
	URL string
	SourceForm
	Schedule string // see ScheduleValue
	Now      bool   // the first run starts at once
	Open     bool   // show what is folded
}

// NewAddForm is the form with its defaults.
func NewAddForm(url string) AddForm {
	return AddForm{
		URL: url, Schedule: ScheduleValue(crawl.Interval{Count: 1, Type: crawl.Days}), Now: true,
		SourceForm: SourceForm{Depth: strconv.Itoa(crawl.DefaultDepth), RateLimit: strconv.Itoa(crawl.DefaultRateLimit)},
	}
}

// SourceForm is what was typed for a source, with its errors.
type SourceForm struct {
	Name, Depth, RateLimit, Domains string
	Enabled                         bool
	Private                         bool
	Open                            bool
	Errors                          ui.Errors
}

// SourceFormOf is the form filled in with a source.
func SourceFormOf(s crawl.Source) SourceForm {
	return SourceForm{
		Name: s.Name, Depth: strconv.Itoa(s.Depth()), RateLimit: strconv.Itoa(s.RateLimitMS),
		Domains: strings.Join(s.AllowedDomains, " "), Enabled: s.Enabled, Private: s.Private(),
	}
}

// JobForm is what was typed for a job, with its errors.
type JobForm struct {
	Schedule, Retries, Backoff string
	Adaptive                   bool
	Open                       bool
	Errors                     ui.Errors
}

// JobFormOf is the form filled in with a job.
func JobFormOf(j crawl.Job) JobForm {
	return JobForm{
		Schedule: ScheduleValue(j.Interval()), Adaptive: j.AdaptiveScheduling,
		Retries: strconv.Itoa(j.MaxRetries), Backoff: strconv.Itoa(j.RetryBackoffSeconds),
	}
}

// Unfolded reports whether what is folded is shown: a field there has an error.
func (f AddForm) unfolded() bool {
	return f.Open || len(f.Errors) > 1 || len(f.Errors) == 1 && f.Errors["url"] == ""
}

// schedules are the intervals that are offered.
var schedules = []crawl.Interval{
	{Type: crawl.Hours}, {Count: 1, Type: crawl.Hours}, {Count: 6, Type: crawl.Hours}, {Count: 1, Type: crawl.Days}, {Count: 7, Type: crawl.Days},
}

const once = "once"

// ScheduleValue is an interval as forms send it: "once", "6 hours".
func ScheduleValue(i crawl.Interval) string {
	if !i.Recurring() {
		return once
	}
	return strconv.Itoa(i.Count) + " " + string(i.Type)
}

// ParseSchedule reads what ScheduleValue wrote. Errors are those of ParseInterval.
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

// choices are the intervals to choose from: those that are offered, and the one that
// is chosen in its own unit.
func choices(chosen string) []crawl.Interval {
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

// depths are the depths to choose from, with the one that is chosen.
func depths(chosen string) []int {
	all := []int{}
	for n := 1; n <= crawl.DeepCrawl; n++ {
		all = append(all, n)
	}
	if own, err := strconv.Atoi(chosen); err == nil && own > crawl.DeepCrawl && own <= crawl.MaxDepth {
		all = append(all, own)
	}
	return all
}
