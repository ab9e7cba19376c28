package targets

import (
	"fmt"
	"strings"
	"unicode"

	"linkwatch/models"
	"linkwatch/models/targets"
	"linkwatch/views/ui"
)

// The kinds of badges, as in their paths.
const (
	BadgeStatus  = "status"
	BadgeUptime  = "uptime"
	BadgeLatency = "latency"
)

// Badge is a small SVG image with one figure of a target, for other sites.
type Badge struct {
	Target string // name of the target, for screen readers
	Label  string
	Value  string
	Color  string // background of the value; white text on it has a contrast of at least 4.5
}

// The colors of badges.
const (
	badgeGood    = "#2c7044"
	badgeFair    = "#8a5300"
	badgeBad     = "#b3261e"
	badgeNeutral = "#3450c4"
	badgeNothing = "#5d626b"
)

// Uptimes from which a badge is green, and from which it is not red.
const (
	goodUptime = 0.99
	fairUptime = 0.95
)

// StatusBadge shows the status of a target.
func StatusBadge(t targets.Target) Badge {
	b := Badge{Target: t.DisplayTitle(), Label: models.Truncate(t.DisplayTitle(), maxBadgeName), Value: string(knownStatus(t)), Color: badgeNothing}
	if b.Label != b.Target {
		b.Label += "…"
	}
	switch knownStatus(t) {
	case targets.Up:
		b.Color = badgeGood
	case targets.Down:
		b.Color = badgeBad
	case targets.Pending, targets.Paused:
	}
	return b
}

// UptimeBadge shows the uptime of a target over a range. If the history does not
// fill the range, the label says since when it counts.
func UptimeBadge(t targets.Target, r targets.Range) Badge {
	b := Badge{Target: t.DisplayTitle(), Label: BadgeUptime + " " + string(r), Value: "no data", Color: badgeNothing}
	if ratio, ok := t.Uptime[r].Ratio(); ok {
		if since := r.CountsSince(t.Uptime[r], t.AsOf); !since.IsZero() {
			b.Label = BadgeUptime + " since " + sinceDate(since, t.AsOf)
		}
		b.Value = ui.Percent(ratio)
		switch {
		case ratio >= goodUptime:
			b.Color = badgeGood
		case ratio >= fairUptime:
			b.Color = badgeFair
		default:
			b.Color = badgeBad
		}
	}
	return b
}

// sinceDate formats a time for a badge. Unlike an age it stays true when the badge
// is cached.
func sinceDate(since, now models.Time) string {
	switch age := now.Sub(since.Time); {
	case age < models.Day:
		return since.Format("15:04 UTC")
	case age < 300*models.Day:
		return since.Format("2 Jan")
	}
	return since.Format("2 Jan 2006")
}

// LatencyBadge shows the median response time of a target over a range.
func LatencyBadge(t targets.Target, h targets.History) Badge {
	b := Badge{Target: t.DisplayTitle(), Label: badgeNames[BadgeLatency] + " " + string(h.Range), Value: "no data", Color: badgeNothing}
	if h.P95 > 0 { // else no check had a response
		b.Value, b.Color = fmt.Sprintf("%d ms", h.P50), badgeNeutral
	}
	return b
}

// badgePath is the path of a badge. If within is "", the badge has the default range of
// its kind.
func badgePath(id, kind string, within targets.Range) string {
	if within == "" {
		return "/badge/" + id + "/" + kind + ".svg"
	}
	return "/badge/" + id + "/" + kind + "/" + string(within) + ".svg"
}

// badgeNames are the labels of the kinds of badges.
var badgeNames = map[string]string{BadgeStatus: "status", BadgeUptime: "uptime", BadgeLatency: "response time"}

// offeredBadges are the badges whose markup can be copied from the page.
var offeredBadges = []struct {
	kind   string
	within targets.Range
}{{BadgeStatus, ""}, {BadgeUptime, targets.Last30d}, {BadgeLatency, targets.Last24h}}

// The size of a badge, in pixels.
const (
	badgeHeight  = 20
	badgePadding = 6  // left and right of each text
	maxBadgeName = 40 // runes
)

func (b Badge) title() string {
	if strings.HasPrefix(b.Target, strings.TrimSuffix(b.Label, "…")) { // the name is the label
		return b.Target + ": " + b.Value
	}
	return b.Target + ": " + b.Label + " " + b.Value
}

func (b Badge) labelWidth() int { return textWidth(b.Label) + 2*badgePadding }
func (b Badge) valueWidth() int { return textWidth(b.Value) + 2*badgePadding }
func (b Badge) width() int      { return b.labelWidth() + b.valueWidth() }

// verdana is the widths of the characters from " " to "~" in Verdana at 11 pixels, in
// tenths of a pixel. If the browser uses another font, textLength makes the text fit.
var verdana = [...]int{
	39, 43, 50, 90, 70, 118, 80, 30, 50, 50, 70, 90, 40, 50, 40, 50, // space to /
	70, 70, 70, 70, 70, 70, 70, 70, 70, 70, 50, 50, 90, 90, 90, 60, // 0 to ?
	110, 75, 75, 77, 85, 70, 63, 85, 83, 46, 50, 76, 61, 93, 82, 87, // @ to O
	66, 87, 76, 75, 68, 81, 75, 109, 75, 68, 75, 50, 50, 50, 90, 70, // P to _
	70, 66, 69, 57, 69, 66, 39, 69, 70, 30, 38, 65, 30, 107, 70, 67, // ` to o
	69, 69, 47, 57, 43, 70, 65, 90, 65, 65, 58, 70, 50, 70, 90, // p to ~
}

// textWidth returns the width of a text in pixels, rounded up.
func textWidth(s string) int {
	tenths := 0
	for _, r := range s {
		switch {
		case r >= ' ' && r <= '~':
			tenths += verdana[r-' ']
		case unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Cf, r): // drawn with the letter before
		case r >= 0x1100: // Chinese, Japanese, Korean, pictures
			tenths += 110
		default:
			tenths += 75
		}
	}
	return (tenths + 9) / 10
}

// xmlText replaces the two characters that the store allows and XML does not.
func xmlText(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\ufffe' || r == '\uffff' {
			return '\ufffd'
		}
		return r
	}, s)
}
