package sites

import (
	"time"

	"linkwatch/models"
)

// The bounds of priorities.
const (
	MinPriority = 1
	MaxPriority = 100
	lowest      = 10 // of an automatic priority
)

// AutoPriority is the priority of a page by the time that its sitemap says it was last
// modified; the zero lastmod is none. Pages that changed recently come first:
//
//   - up to 1 day ago, or in the future: 100
//   - 2 to 7 days: 85 down to 80
//   - 8 to 30 days: 80 down to 50, in steps of 10 each 7 days
//   - later: 50 down to 10, in steps of 10 each 30 days
//   - no lastmod: 10
func AutoPriority(lastmod, now models.Time) int {
	if lastmod.IsZero() {
		return lowest
	}
	return priorityAfter(days(lastmod.Time, now.Time))
}

func priorityAfter(days int) int {
	switch {
	case days <= 1:
		return MaxPriority
	case days <= 7:
		return 80 + 7 - days
	case days <= 30:
		return 50 + (30-days)/7*10
	default:
		return max(lowest, 50-(days-30)/30*10)
	}
}

// nextPriority is when the automatic priority of a page changes next; zero: never.
func nextPriority(lastmod, now models.Time) models.Time {
	if lastmod.IsZero() {
		return models.Time{}
	}
	age := max(1, days(lastmod.Time, now.Time)) // the first change is after the first full day
	is := priorityAfter(age)
	if is == lowest {
		return models.Time{}
	}
	for priorityAfter(age) == is { // 30 steps at most
		age++
	}
	return lastmod.Add(time.Duration(age) * models.Day)
}

// WhyPriority explains an automatic priority in a short sentence.
func WhyPriority(lastmod, now models.Time) string {
	if lastmod.IsZero() {
		return "The sitemap has no lastmod for it"
	}
	switch n := days(lastmod.Time, now.Time); {
	case n < 0:
		return "lastmod is in the future"
	case n == 0:
		return "Modified today"
	case n == 1:
		return "Modified 1 day ago"
	default:
		return "Modified " + itoa(n) + " days ago"
	}
}
