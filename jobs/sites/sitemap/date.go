package sitemap

import (
	"strings"
	"time"

	"linkwatch/models"
)

const maxDate = 64 // bytes

// Formats of W3C Datetime, and common variants. time.Parse accepts fractional seconds after all of them.
var (
	dateLayouts = [...]string{"2006-01-02", "2006-01", "2006"}
	timeLayouts = [...]string{
		time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04",
		"2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z0700", "2006-01-02T15:04:05Z07", "2006-01-02T15:04Z07",
	}
)

// zones are the zone names of RFC 822 other than UTC.
var zones = map[string]string{
	"EST": "-0500", "EDT": "-0400", "CST": "-0600", "CDT": "-0500",
	"MST": "-0700", "MDT": "-0600", "PST": "-0800", "PDT": "-0700",
}

// parseDate parses a date in W3C Datetime format (sitemaps, Atom) or RFC 822 format (RSS). The default zone is UTC. ok is false
// for invalid dates and for years before 1970 or after 2100.
func parseDate(s string) (t models.Time, ok bool) {
	if len(s) > maxDate {
		return models.Time{}, false
	}
	read, ok := parseW3C(s)
	if !ok {
		read, ok = parse822(s)
	}
	if read = read.UTC(); !ok || read.Year() < 1970 || read.Year() > 2100 {
		return models.Time{}, false
	}
	return models.At(read), true
}

func parseW3C(s string) (time.Time, bool) {
	layouts := dateLayouts[:]
	if len(s) > len(time.DateOnly) {
		layouts = timeLayouts[:]
		if read, err := time.Parse(layouts[0], s); err == nil {
			return read, true
		}
		s = plainTime(s)
	}
	for _, layout := range layouts {
		if read, err := time.Parse(layout, s); err == nil {
			return read, true
		}
	}
	return time.Time{}, false
}

// plainTime converts "2026-03-01 10:20:30 UTC" to W3C Datetime.
func plainTime(s string) string {
	day, clock := s[:len(time.DateOnly)], strings.ToUpper(strings.ReplaceAll(s[len(time.DateOnly):], " ", ""))
	for _, utc := range [...]string{"UTC", "GMT"} {
		if rest, found := strings.CutSuffix(clock, utc); found {
			clock = rest + "Z"
		}
	}
	return day + "T" + strings.TrimPrefix(clock, "T")
}

// parse822 parses "Mon, 2 Mar 2026 10:20:30 +0100" and common variants: without weekday, seconds, zone or time, with two-digit
// years, and with full month names.
func parse822(s string) (time.Time, bool) {
	if _, rest, found := strings.Cut(s, ","); found {
		s = rest
	}
	f := strings.Fields(s)
	if len(f) < 3 || len(f[1]) < 3 {
		return time.Time{}, false
	}
	layout := "2 Jan 2006"
	if len(f[2]) == 2 {
		layout = "2 Jan 06"
	}
	clock, zone := "00:00:00", "+0000"
	if len(f) > 3 {
		if clock = f[3]; strings.Count(clock, ":") == 1 {
			clock += ":00"
		}
	}
	if len(f) > 4 {
		zone = offset(f[4])
	}
	read, err := time.Parse(layout+" 15:04:05 -0700", f[0]+" "+f[1][:3]+" "+f[2]+" "+clock+" "+zone)
	return read, err == nil
}

// offset returns a zone as digits. Unknown names count as UTC.
func offset(zone string) string {
	if strings.HasPrefix(zone, "+") || strings.HasPrefix(zone, "-") {
		return strings.Replace(zone, ":", "", 1)
	}
	if known := zones[strings.ToUpper(zone)]; known != "" {
		return known
	}
	return "+0000"
}
