package sites

import (
	"strconv"
	"time"

	"linkwatch/models"
)

// Bounds of priorities.
const (
	MinPriority     = 1
	MaxPriority     = 100
	minAutoPriority = 10 // lowest automatic priority
)

// AutoPriority returns the automatic priority of a page by its last modification. Recently changed pages come first:
//
//   - up to 1 day ago, or in the future: 100
//   - 2 to 7 days: 85 down to 80
//   - 8 to 30 days: 80 down to 50, in steps of 10 each 7 days
//   - later: 50 down to 10, in steps of 10 each 30 days
//   - no lastmod: 10
func AutoPriority(lastmod, now models.Time) int {
	if lastmod.IsZero() {
		return minAutoPriority
	}
	return priorityAfter(wholeDays(lastmod.Time, now.Time))
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
		return max(minAutoPriority, 50-(days-30)/30*10)
	}
}

// nextPriority returns when the automatic priority changes next; zero = never.
func nextPriority(lastmod, now models.Time) models.Time {
	if lastmod.IsZero() {
		return models.Time{}
	}
	age := max(1, wholeDays(lastmod.Time, now.Time)) // the first change is after one full day
	current := priorityAfter(age)
	if current == minAutoPriority {
		return models.Time{}
	}
	for priorityAfter(age) == current { // at most 30 steps
		age++
	}
	return lastmod.Add(time.Duration(age) * models.Day)
}

// WhyPriority returns the reason for an automatic priority.
func WhyPriority(lastmod, now models.Time) string {
	if lastmod.IsZero() {
		return "No lastmod in the sitemap"
	}
	switch n := wholeDays(lastmod.Time, now.Time); {
	case n < 0:
		return "lastmod is in the future"
	case n == 0:
		return "Modified today"
	case n == 1:
		return "Modified 1 day ago"
	default:
		return "Modified " + strconv.Itoa(n) + " days ago"
	}
}
