package targets

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"linkwatch/models"
	"linkwatch/models/targets"
	"linkwatch/views/ui"
)

// StatusPage is the public page of a group of targets. It shows names, states and
// times, but no paths, errors or links to other pages. A target without a name is
// shown by its host.
type StatusPage struct {
	targets.StatusPage
	Days          map[int64][]targets.DayShare // by Target.Seq
	Outages       []targets.Outage             // newest first
	More          bool                         // there are older outages
	InMaintenance map[string]bool              // by the id of a target
	Now           time.Time
}

// maxSummary is the maximum length of the description of a status page for search engines, in characters.
const maxSummary = 200

// summary is the description of the page for search engines: its text, or the overall status.
func (v StatusPage) summary() string {
	if text := models.CleanLine(v.Description); text != "" {
		return models.Truncate(text, maxSummary)
	}
	return v.verdict()
}

// watchedBy is the footer of a status page.
const watchedBy = "Watched by Linkwatch"

// mostlyDown is the uptime below which a day is shown as down instead of partly up.
const mostlyDown = 0.5

// The statuses that only status pages and badges have.
const (
	inMaintenance targets.Status = "maintenance" // down during a maintenance window; only counts uses it
	unknown       targets.Status = "unknown"     // it was up, but see targets.Target.Stale
)

// knownStatus is the status of a target as far as it is known. A target that was down stays down until a check is up.
func knownStatus(t targets.Target) targets.Status {
	if s := t.Status(); s != targets.Up || !t.Stale {
		return s
	}
	return unknown
}

// state is the overall status: the first of down, maintenance, unknown, up, pending and paused that any target has.
func (v StatusPage) state() targets.Status {
	n := v.counts()
	for _, s := range []targets.Status{targets.Down, inMaintenance, unknown, targets.Up, targets.Pending} {
		if n[s] > 0 {
			return s
		}
	}
	return targets.Paused
}

func (v StatusPage) counts() targets.Counts {
	n := targets.Counts{}
	for _, t := range v.Targets {
		n[v.statusOf(t)]++
	}
	return n
}

func (v StatusPage) statusOf(t targets.Target) targets.Status {
	if s := knownStatus(t); s != targets.Down || !v.InMaintenance[t.ID] {
		return s
	}
	return inMaintenance
}

// verdict describes the overall status.
func (v StatusPage) verdict() string {
	n, all := v.counts(), len(v.Targets)
	switch {
	case n[targets.Down] == all:
		return "All systems are down"
	case n[targets.Down] == 1:
		return fmt.Sprintf("1 of %d is down", all)
	case n[targets.Down] > 1:
		return fmt.Sprintf("%d of %d are down", n[targets.Down], all)
	case n[inMaintenance] > 0:
		return "Maintenance in progress"
	case n[targets.Up] == all:
		return "All systems are up"
	case n[targets.Up] == 1:
		return fmt.Sprintf("1 of %d is up", all)
	case n[targets.Up] > 1:
		return fmt.Sprintf("%d of %d are up", n[targets.Up], all)
	case n[unknown] > 0:
		return "No recent results"
	case n[targets.Pending] > 0:
		return "Waiting for the first results"
	}
	return "Monitoring is paused"
}

// maxNamed is the largest number of down targets that details names.
const maxNamed = 3

// details lists which targets are down, and how many are in maintenance, unknown, paused or
// pending: "Checkout · Shop · 1 paused".
func (v StatusPage) details() string {
	var parts []string
	n, all := v.counts(), len(v.Targets)
	if n[targets.Down] <= maxNamed && n[targets.Down] < all {
		for _, t := range v.Targets {
			if v.statusOf(t) == targets.Down {
				parts = append(parts, t.DisplayTitle())
			}
		}
	}
	if m := v.maintenanceCount(); m > 0 && m < all {
		parts = append(parts, fmt.Sprintf("%d in maintenance", m))
	}
	if n[unknown] > 0 && n[unknown] < all {
		parts = append(parts, fmt.Sprintf("%d without recent results", n[unknown]))
	}
	if n[targets.Paused] > 0 && n[targets.Paused] < all {
		parts = append(parts, fmt.Sprintf("%d paused", n[targets.Paused]))
	}
	if n[targets.Pending] > 0 && n[targets.Pending] < all {
		parts = append(parts, fmt.Sprintf("%d pending", n[targets.Pending]))
	}
	return strings.Join(parts, " · ")
}

// maintenanceCount is the number of targets in maintenance, of any status.
func (v StatusPage) maintenanceCount() (n int) {
	for _, t := range v.Targets {
		if v.InMaintenance[t.ID] {
			n++
		}
	}
	return n
}

// checkedAt is the start of the last check of any target; zero: never.
func (v StatusPage) checkedAt() time.Time {
	var last models.Time
	for _, t := range v.Targets {
		if t.LastCheckedAt.After(last.Time) {
			last = t.LastCheckedAt
		}
	}
	return last.Time
}

// anyResult reports whether the uptime of any target was known in the last PageDays days.
func (v StatusPage) anyResult() bool {
	return slices.ContainsFunc(v.Targets, func(t targets.Target) bool { return t.Uptime[targets.Last90d].Known() > 0 })
}

// statusNote is a remark next to the status of a target; "" = none.
func statusNote(t targets.Target, now time.Time) string {
	switch knownStatus(t) {
	case unknown:
		return noResultFor(t, now)
	case targets.Down:
		return "for " + ui.LongDuration(now.Sub(t.StateSince.Time))
	case targets.Pending:
		return "no result yet"
	case targets.Paused:
		return "not checked"
	case targets.Up:
	}
	return ""
}

// noResultFor says how long a stale target has had no result.
func noResultFor(t targets.Target, now time.Time) string {
	if at := t.LastResultAt(); !at.IsZero() {
		return "no result for " + ui.LongDuration(now.Sub(at.Time))
	}
	return "no recent result"
}

// daysBar returns the bar of a target with one segment per day. Titles are the date and uptime.
func daysBar(days []targets.DayShare) []segment {
	segments := make([]segment, len(days))
	for i, d := range days {
		found := "no data"
		if d.Known() > 0 {
			found = uptimeOf(d.Share)
		}
		segments[i] = segment{Kind: dayKind(d.Share), Title: d.At.Format("2 Jan") + ": " + found}
	}
	return segments
}

func dayKind(s targets.Share) segmentKind {
	switch ratio, ok := s.Ratio(); {
	case !ok:
		return segmentNone
	case s.Down == 0:
		return segmentUp
	case ratio < mostlyDown:
		return segmentDown
	}
	return segmentPartly
}

// daysLabel describes a bar of days in words.
func daysLabel(days []targets.DayShare) string {
	measured, failed := 0, 0
	for _, d := range days {
		if d.Known() > 0 {
			measured++
		}
		if d.Down > 0 {
			failed++
		}
	}
	if measured == 0 {
		return fmt.Sprintf("The last %d days: no data", len(days))
	}
	return fmt.Sprintf("The last %d days: %d with data, %d of them with downtime", len(days), measured, failed)
}

// outageDay is the outages that began on one day, newest first.
type outageDay struct {
	At      time.Time // any time of the day, UTC
	Outages []targets.Outage
}

func (d outageDay) id() string { return StatusDay(d.At) }

// StatusDay is the id of a day on a status page: "2026-03-12".
func StatusDay(t time.Time) string { return t.UTC().Format(time.DateOnly) }

func (v StatusPage) outageDays() []outageDay {
	var days []outageDay
	for _, o := range v.Outages {
		if n := len(days); n > 0 && days[n-1].id() == StatusDay(o.StartedAt.Time) {
			days[n-1].Outages = append(days[n-1].Outages, o)
		} else {
			days = append(days, outageDay{o.StartedAt.Time, []targets.Outage{o}})
		}
	}
	return days
}

// outageTimes formats the times of an outage: "14:03 – 14:11 UTC". An end on another
// day includes the date.
func outageTimes(o targets.Outage) string {
	const clock = "15:04"
	from := o.StartedAt.Format(clock)
	if o.EndedAt.IsZero() {
		return "since " + from + " UTC"
	}
	to := o.EndedAt.Format(clock)
	if StatusDay(o.EndedAt.Time) != StatusDay(o.StartedAt.Time) {
		to = o.EndedAt.Format("2 Jan, ") + to
	}
	return from + " – " + to + " UTC"
}

// The paths of a status page.

// StatusPath is the path of the public page.
func StatusPath(slug string) string { return "/status/" + slug }

// StatusFeedPath is the path of its outage feed.
func StatusFeedPath(slug string) string { return StatusPath(slug) + "/feed" }

// StatusEditPath is the path of its edit form.
func StatusEditPath(slug string) string { return StatusPath(slug) + "/edit" }

func statusDeletePath(slug string) string { return StatusPath(slug) + "/delete" }
