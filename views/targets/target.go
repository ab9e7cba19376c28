package targets

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"linkwatch/models"
	"linkwatch/models/targets"
	"linkwatch/views/ui"
)

// Target is the page of one target.
type Target struct {
	ui.Page
	Place     TargetPlace
	Target    targets.Target
	Check     time.Duration // CHECK_INTERVAL
	Interval  time.Duration // time between its checks
	Intervals []int         // seconds to choose from, see Intervals
	Edit      Form
	History   targets.History
	Year      targets.Share // of the last 365 days
	Outages   models.Slice[targets.Outage]
	Results   models.Slice[targets.Result]
	Aside     []templ.Component // sections of other systems, below the details
}

// TargetPlace selects the part of the history that the page of a target shows.
type TargetPlace struct {
	ID      string
	Range   targets.Range // of the chart
	Failed  bool          // only the checks that were not up
	Token   string        // of the page of checks; "" = the newest
	Outages string        // token of the page of outages; "" = the newest
}

// Path is the path of the page.
func (p TargetPlace) Path() string {
	q := url.Values{}
	if p.Range != "" && p.Range != targets.Last24h {
		q.Set("range", string(p.Range))
	}
	if p.Failed {
		q.Set("failed", "true")
	}
	if p.Token != "" {
		q.Set("page_token", p.Token)
	}
	if p.Outages != "" {
		q.Set("outages", p.Outages)
	}
	return ui.WithQuery(targetPath(p.ID), q)
}

func (p TargetPlace) withRange(r targets.Range) TargetPlace   { p.Range = r; return p }
func (p TargetPlace) withFailed(only bool) TargetPlace        { p.Failed, p.Token = only, ""; return p }
func (p TargetPlace) after(c models.Cursor) TargetPlace       { p.Token = c.Token(); return p }
func (p TargetPlace) afterOutage(c models.Cursor) TargetPlace { p.Outages = c.Token(); return p }
func (p TargetPlace) live() bool                              { return p.Token == "" && p.Outages == "" }

func targetPath(id string) string { return "/watch/" + id }

// pathOf returns the URL of a target without scheme and host: "/health?x=1", or "" for
// the front page.
func pathOf(t targets.Target) string {
	_, rest, _ := strings.Cut(t.CanonicalURL, "://")
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		return rest[i:]
	}
	return ""
}

var rangeNames = map[targets.Range]string{
	targets.Last24h: "24 hours", targets.Last7d: "7 days", targets.Last30d: "30 days",
	targets.Last90d: "90 days", targets.Last365d: "365 days",
}

// share is the uptime over a range.
func (v Target) share(r targets.Range) targets.Share {
	if r == targets.Last365d {
		return v.Year
	}
	return v.Target.Uptime[r]
}

// statusText is a sentence about the status of a target.
func (v Target) statusText() string {
	t := v.Target
	switch t.Status() {
	case targets.Paused:
		return "Checks are paused. Paused time does not count towards uptime."
	case targets.Pending:
		return v.pendingText()
	case targets.Down:
		return failing(t) + "."
	case targets.Up:
		if lastOutcome(t) == targets.ThrottledOutcome {
			return "The last check was rate limited (429), which counts as neither up nor down."
		}
		return "Last check: " + responseOf(t.LastStatusCode, t.LastLatencyMS) + "."
	}
	return ""
}

// pendingText says why a target is pending, and whether its next check is close.
func (v Target) pendingText() string {
	t, why := v.Target, "Not checked yet."
	switch {
	case t.LastCheckedAt.IsZero():
	case t.LastCheckedAt.Before(t.StateSince.Time): // it was paused or deleted after that
		why = "Not checked since it was resumed or restored."
	default: // any other outcome would have changed the state
		why = "No result yet: checks were rate limited (429)."
	}
	if t.NextCheckAt.Sub(v.Now) < time.Minute {
		why += " The next check runs within a minute."
	}
	return why
}

// failing says why a target is down, without a final period.
func failing(t targets.Target) string {
	checks := ui.Plural(t.Failures, "check")
	switch {
	case !failed(t): // LastError is of a later check
		return checks + " failed, then checks were rate limited (429)"
	case t.Failures > 1:
		return ui.Sentence(t.LastError) + ", " + checks + " in a row"
	}
	return ui.Sentence(t.LastError)
}

func lastOutcome(t targets.Target) targets.Outcome {
	if len(t.RecentChecks) == 0 {
		return targets.UpOutcome
	}
	return t.RecentChecks[len(t.RecentChecks)-1].Outcome
}

// failed reports whether a target is down and its last check failed.
func failed(t targets.Target) bool {
	return t.State == targets.Down && lastOutcome(t) == targets.DownOutcome
}

// responseOf summarizes a response: "200 in 84 ms".
func responseOf(status, latencyMS int) string {
	if status == 0 {
		return "no response"
	}
	return fmt.Sprintf("%d in %s", status, ui.ResponseTime(latencyMS))
}

// statusIn reports whether the error of a check contains the HTTP status.
func statusIn(r targets.Result) bool {
	return strings.HasSuffix(r.Error, " "+strconv.Itoa(r.StatusCode))
}

// expectations describes each condition for up.
func expectations(e targets.Expect) []string {
	all := []string{"status " + strings.ReplaceAll(e.Statuses(), ",", ", ")}
	if e.Keyword != "" {
		all = append(all, "contains “"+e.Keyword+"”")
	}
	if e.KeywordAbsent != "" {
		all = append(all, "does not contain “"+e.KeywordAbsent+"”")
	}
	if e.MaxLatencyMS > 0 {
		all = append(all, "within "+ui.ResponseTime(e.MaxLatencyMS))
	}
	return all
}

// tlsExpiring reports whether the certificate of a target has expired or expires soon.
func tlsExpiring(t targets.Target, now time.Time) bool {
	return !t.TLSExpiresAt.IsZero() && t.TLSExpiresAt.Sub(now) <= targets.TLSSoon
}

// expiresOrExpired is the verb for the expiry of a certificate.
func expiresOrExpired(t targets.Target, now time.Time) string {
	if t.TLSExpiresAt.After(now) {
		return "expires"
	}
	return "expired"
}

// ticks is the number of labels on the time axis.
const ticks = 4

func (v Target) chart() chart {
	h := v.History
	c := chart{
		Label: fmt.Sprintf("Response time over the last %s: median %s, 95th percentile %s", rangeNames[h.Range], latencyOr(h.P50, "unknown"), latencyOr(h.P95, "unknown")),
		Bars:  fmt.Sprintf("Uptime over the last %s: %s", rangeNames[h.Range], uptimeOf(h.Share)),
	}
	for _, b := range h.Buckets {
		c.Points = append(c.Points, point{
			P50: b.P50, P95: b.P95, Answered: b.P95 > 0, Uptime: bucketKind(b.Share),
			Title: fmt.Sprintf("%s\n%s", bucketTime(b), bucketFigures(b)),
		})
	}
	if n := len(h.Buckets); n > 0 {
		from, span := h.Buckets[0].From, h.Buckets[n-1].To.Sub(h.Buckets[0].From.Time)
		for i := range ticks {
			c.Ticks = append(c.Ticks, tick(h.Range, from.Add(span*time.Duration(i)/ticks).Time))
		}
	}
	return c
}

func bucketKind(s targets.Share) segmentKind {
	switch {
	case s.Known() == 0:
		return segmentNone
	case s.Down == 0:
		return segmentUp
	case s.Up == 0:
		return segmentDown
	}
	return segmentPartly
}

func tick(r targets.Range, t time.Time) string {
	switch r {
	case targets.Last24h:
		return t.Format("15:04")
	case targets.Last365d:
		return t.Format("Jan 2006")
	case targets.Last7d, targets.Last30d, targets.Last90d:
	}
	return t.Format("2 Jan")
}

// bucketTime formats the time of a bucket, in UTC: "24 Mar, 14:00 to 15:00".
func bucketTime(b targets.Bucket) string {
	switch length := b.To.Sub(b.From.Time); {
	case length < models.Day:
		return b.From.Format("2 Jan, 15:04") + " to " + b.To.Format("15:04")
	case length == models.Day:
		return b.From.Format("2 Jan 2006")
	}
	return b.From.Format("2 Jan") + " to " + b.To.Add(-models.Day).Format("2 Jan 2006")
}

func bucketFigures(b targets.Bucket) string {
	if b.Checks == 0 && b.Known() == 0 {
		return "no data"
	}
	figures := fmt.Sprintf("median %s, 95th percentile %s\nuptime %s", latencyOr(b.P50, "unknown"), latencyOr(b.P95, "unknown"), uptimeOf(b.Share))
	if b.Down > 0 {
		figures += ", down for " + ui.LongDuration(b.Down)
	}
	return figures
}

func latencyOr(ms int, missing string) string {
	if ms == 0 {
		return missing
	}
	return ui.ResponseTime(ms)
}
