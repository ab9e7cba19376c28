package targets

import (
	"slices"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/targets"
	"linkwatch/views/ui"
)

// TestStatusText checks that a 429 is reported as such after any other result.
func TestStatusText(t *testing.T) {
	added := models.At(time.Date(2026, 3, 24, 12, 0, 0, 0, time.UTC))
	now := added.Add(10 * time.Minute)
	found := func(state targets.Status, outcomes ...targets.Outcome) targets.Target {
		t := targets.Target{State: state, StateSince: added, Schedule: targets.Schedule{NextCheckAt: now.Add(20 * time.Second)}}
		for i, o := range outcomes {
			t.LastCheckedAt = added.Add(time.Duration(i) * time.Minute)
			t.RecentChecks = append(t.RecentChecks, targets.RecentCheck{At: t.LastCheckedAt, Outcome: o})
			switch o {
			case targets.DownOutcome:
				t.LastError, t.LastStatusCode, t.Failures = "unexpected status 404", 404, t.Failures+1
			case targets.ThrottledOutcome:
				t.LastError, t.LastStatusCode = "throttled: status 429", 429
			case targets.UpOutcome:
				t.LastError, t.LastStatusCode, t.LastLatencyMS = "", 200, 84
			}
		}
		return t
	}
	with := func(t targets.Target, change func(*targets.Target)) targets.Target {
		change(&t)
		return t
	}
	const up, down, throttled = targets.UpOutcome, targets.DownOutcome, targets.ThrottledOutcome
	for _, c := range []struct {
		target targets.Target
		want   string
	}{
		{found(targets.Pending), "Not checked yet. The next check runs within a minute."},
		{found(targets.Pending, throttled), "No result yet: checks were rate limited (429). The next check runs within a minute."},
		{with(found(targets.Pending, throttled), func(t *targets.Target) { t.NextCheckAt = now.Add(time.Hour) }),
			"No result yet: checks were rate limited (429)."},
		{with(found(targets.Pending, up, throttled), func(t *targets.Target) { t.StateSince = now }),
			"Not checked since it was resumed or restored. The next check runs within a minute."},
		{found(targets.Up, up), "Last check: 200 in 84 ms."},
		{found(targets.Up, up, throttled), "The last check was rate limited (429), which counts as neither up nor down."},
		{found(targets.Down, down), "Unexpected status 404."},
		{found(targets.Down, down, down), "Unexpected status 404, 2 checks in a row."},
		{found(targets.Down, down, throttled), "1 check failed, then checks were rate limited (429)."},
		{found(targets.Down, down, throttled, down), "Unexpected status 404, 2 checks in a row."},
		{with(found(targets.Pending, down), func(t *targets.Target) { t.Paused = true }), "Checks are paused. Paused time does not count towards uptime."},
	} {
		if got := (Target{Page: ui.Page{Now: now.Time}, Target: c.target}).statusText(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestChart checks the buckets and the time labels of every range.
func TestChart(t *testing.T) {
	from := models.At(time.Date(2026, 3, 23, 13, 0, 0, 0, time.UTC))
	h := targets.History{Range: targets.Last24h}
	for i := range 24 {
		h.Buckets = append(h.Buckets, targets.Bucket{From: from.Add(time.Duration(i) * time.Hour), To: from.Add(time.Duration(i+1) * time.Hour)})
	}
	h.Buckets[3].Share, h.Buckets[3].P50, h.Buckets[3].P95 = targets.Share{Up: 54 * time.Minute, Down: 6 * time.Minute}, 80, 120
	h.Buckets[4].Share = targets.Share{Down: time.Hour}
	c := Target{History: h}.chart()
	if !slices.Equal(c.Ticks, []string{"13:00", "19:00", "01:00", "07:00"}) {
		t.Errorf("ticks %v", c.Ticks)
	}
	for i, want := range map[int]point{
		0: {Uptime: segmentNone, Title: "23 Mar, 13:00 to 14:00\nno data"},
		3: {P50: 80, P95: 120, Answered: true, Uptime: segmentPartly, Title: "23 Mar, 16:00 to 17:00\nmedian 80 ms, 95th percentile 120 ms\nuptime 90.00%, down for 6 min"},
		4: {Uptime: segmentDown, Title: "23 Mar, 17:00 to 18:00\nmedian unknown, 95th percentile unknown\nuptime 0%, down for 1 h"},
	} {
		if c.Points[i] != want {
			t.Errorf("point %d is %+v, want %+v", i, c.Points[i], want)
		}
	}
	day := targets.Bucket{From: from, To: from.Add(models.Day)}
	week := targets.Bucket{From: from, To: from.Add(7 * models.Day)}
	if bucketTime(day) != "23 Mar 2026" || bucketTime(week) != "23 Mar to 29 Mar 2026" {
		t.Errorf("%q, %q", bucketTime(day), bucketTime(week))
	}
}
