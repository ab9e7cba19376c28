package targets

import (
	"fmt"

	"linkwatch/models/targets"
	"linkwatch/views/ui"
)

// uptimeOf formats the uptime of a share: "99.97%", or "–" if no time is known.
func uptimeOf(s targets.Share) string {
	ratio, ok := s.Ratio()
	if !ok {
		return "–"
	}
	return ui.Percent(ratio)
}

// recentChecksBar returns the uptime bar of a target, padded with empty segments on the left. Only
// segments that are not up have a title.
func recentChecksBar(t targets.Target) []segment {
	segments := make([]segment, targets.MaxRecentChecks)
	from := max(targets.MaxRecentChecks-len(t.RecentChecks), 0)
	for i := range segments {
		segments[i].Kind = segmentNone
	}
	for i, b := range t.RecentChecks[max(len(t.RecentChecks)-targets.MaxRecentChecks, 0):] {
		one := segment{Kind: kindOf(b.Outcome)}
		if b.Outcome != targets.UpOutcome {
			one.Title = b.Outcome.String() + " · " + b.At.UTC().Format("2 Jan, 15:04:05 UTC")
		}
		segments[from+i] = one
	}
	return segments
}

func kindOf(o targets.Outcome) segmentKind {
	switch o {
	case targets.UpOutcome:
		return segmentUp
	case targets.ThrottledOutcome:
		return segmentThrottled
	case targets.DownOutcome:
		return segmentDown
	}
	return segmentNone
}

// recentChecksLabel describes an uptime bar: "up in 38 of the last 40 checks, 1 throttled" or
// "up in 2 of 3 checks".
func recentChecksLabel(t targets.Target) string {
	if len(t.RecentChecks) == 0 {
		return "not checked yet"
	}
	up, throttled := 0, 0
	for _, b := range t.RecentChecks {
		switch b.Outcome {
		case targets.UpOutcome:
			up++
		case targets.ThrottledOutcome:
			throttled++
		case targets.DownOutcome:
		}
	}
	label := fmt.Sprintf("up in %d of %s", up, ui.Plural(len(t.RecentChecks), "check"))
	if len(t.RecentChecks) == targets.MaxRecentChecks { // otherwise there are no others
		label = fmt.Sprintf("up in %d of the last %d checks", up, targets.MaxRecentChecks)
	}
	if throttled > 0 {
		label += fmt.Sprintf(", %d throttled", throttled)
	}
	return label
}

// latencies returns the response times of the recent checks, -1 for failed ones.
func latencies(t targets.Target) []int {
	ms := make([]int, len(t.RecentChecks))
	for i, b := range t.RecentChecks {
		ms[i] = b.LatencyMS
		if b.Outcome == targets.DownOutcome {
			ms[i] = -1
		}
	}
	return ms
}

// latenciesLabel describes the sparkline of the response times.
func latenciesLabel(t targets.Target) string {
	least, most := -1, 0
	for _, ms := range latencies(t) {
		if ms >= 0 {
			if least < 0 || ms < least {
				least = ms
			}
			most = max(most, ms)
		}
	}
	if least < 0 {
		return "no response times"
	}
	return "response time from " + ui.ResponseTime(least) + " to " + ui.ResponseTime(most)
}
