package crawl

import (
	"strings"
	"time"

	"linkwatch/models"
)

// Limits of TrapOf.
const (
	maxRepeats    = 2 // occurrences of a segment in a path
	maxSegments   = 20
	maxParameters = 15
	monthsAhead   = 2 * 12
	monthsBack    = 30 * 12
)

// Normalize returns the normal form of a URL for the frontier, so that each page is requested once. The form is as a browser
// requests it, with escapes in upper case, without fragment, session ids and tracking parameters. The order of parameters and
// a trailing slash stay, since servers may distinguish them. ok is false if models.ParseURL does not accept raw. The result
// has at most models.MaxURL bytes, and normalizing it again does not change it.
func Normalize(raw string) (normal string, ok bool) {
	for {
		u, err := models.ParseURL("url", raw)
		if err != nil {
			return "", false
		}
		normal = withoutSession(models.UpperEscapes(u.Requested))
		if normal == u.Requested {
			return normal, true
		}
		raw = normal // now shorter: "/a/..;jsessionid=1" becomes a dot segment
	}
}

// withoutSession removes session ids, tracking parameters, empty parameters and the question mark of an empty query.
func withoutSession(u string) string {
	base, query, hasQuery := strings.Cut(u, "?")
	if strings.IndexByte(base, ';') >= 0 {
		base = withoutPathSession(base)
	}
	if !hasQuery {
		return base
	}
	dropped := false
	for p := range strings.SplitSeq(query, "&") {
		dropped = dropped || isNoise(p)
	}
	if !dropped {
		if len(base)+1+len(query) == len(u) {
			return u
		}
		return base + "?" + query
	}
	var b strings.Builder
	b.WriteString(base)
	separator := byte('?')
	for p := range strings.SplitSeq(query, "&") {
		if !isNoise(p) {
			b.WriteByte(separator)
			b.WriteString(p)
			separator = '&'
		}
	}
	return b.String()
}

// withoutPathSession removes each ";jsessionid=…" from a path.
func withoutPathSession(path string) string {
	const name = ";jsessionid="
	var b strings.Builder
	for {
		i := strings.IndexByte(path, ';')
		if i < 0 {
			return b.String() + path
		}
		b.WriteString(path[:i])
		path = path[i:]
		end := len(path)
		if next := strings.IndexAny(path[1:], ";/"); next >= 0 {
			end = 1 + next
		}
		if len(path) < len(name) || !strings.EqualFold(path[:len(name)], name) {
			b.WriteString(path[:end])
		}
		path = path[end:]
	}
}

// isNoise reports whether a parameter does not select the page: it is empty, a session id or for tracking.
func isNoise(parameter string) bool {
	name, _, _ := strings.Cut(parameter, "=")
	switch name = strings.ToLower(name); name {
	case "phpsessid", "sid", "sessionid", "session_id", "jsessionid", // session ids
		"gclid", "fbclid", "msclkid", "mc_cid", "mc_eid": // tracking
		return true
	}
	return parameter == "" || strings.HasPrefix(name, "utm_") || strings.HasPrefix(name, "aspsessionid")
}

// TrapOf returns the reason why a normalized URL looks like one of an endless number of generated URLs, or "". The reasons
// are few and stable, so that they can be counted.
func TrapOf(u string, today time.Time) string {
	_, path, query := splitURL(u)
	switch {
	case repeatsSegment(path):
		return "URL repeats a path segment"
	case strings.Count(strings.TrimSuffix(path, "/"), "/") > maxSegments:
		return "URL path is too deep"
	case strings.Count(query, "&") >= maxParameters:
		return "URL has too many parameters"
	case pathIsFar(path, today), queryIsFar(query, today):
		return "date in URL is far from today"
	}
	return ""
}

// repeatsSegment reports whether one of the first maxSegments segments of a path occurs more than maxRepeats times.
func repeatsSegment(path string) bool {
	var seen [maxSegments]string
	n := 0
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "" {
			continue
		}
		times := 1
		for _, s := range seen[:n] {
			if s == segment {
				times++
			}
		}
		if times > maxRepeats {
			return true
		}
		if n == len(seen) {
			return false
		}
		seen[n] = segment
		n++
	}
	return false
}

// pathIsFar reports whether a path contains a date far from today, such as "/2031/05" or "/2031-05-01". Numbers outside the
// range of calendar years are ignored.
func pathIsFar(path string, today time.Time) bool {
	before := ""
	for segment := range strings.SplitSeq(path, "/") {
		year, month, ok := readMonth(segment)
		if !ok {
			if year, month, ok = yearAndMonth(before, segment); !ok {
				before = segment
				continue
			}
		}
		if 1800 <= year && year < 2200 && isFar(year, month, today) {
			return true
		}
		before = segment
	}
	return false
}

// queryIsFar reports whether a query contains a date far from today: "date=2035-01-02" in any parameter,
// "year=2035&month=1", or "date=20350102" and "m=203501".
func queryIsFar(query string, today time.Time) bool {
	var years, months string
	for p := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(p, "=")
		if len(value) == 0 || len(value) > 40 || value[0] < '0' || value[0] > '9' {
			continue
		}
		name = strings.ToLower(name)
		year, month, ok := readMonth(value)
		if !ok && (name == "m" || strings.Contains(name, "date") || strings.Contains(name, "day")) &&
			(len(value) == 6 || len(value) == 8) && number(value) >= 0 {
			year, month, ok = yearAndMonth(value[:4], value[4:6])
		}
		if ok && isFar(year, month, today) {
			return true
		}
		switch {
		case name == "y", name == "yr", strings.Contains(name, "year"):
			years = value
		case name == "m", name == "mon", strings.Contains(name, "month"):
			months = value
		}
	}
	year, month, ok := yearAndMonth(years, months)
	return ok && isFar(year, month, today)
}

// isFar reports whether a month is more than two years after today or more than 30 years before.
func isFar(year, month int, today time.Time) bool {
	ahead := 12*(year-today.Year()) + month - int(today.Month())
	return ahead > monthsAhead || ahead < -monthsBack
}

// readMonth parses the year and month of "2031-05", "2031-05-01" or "2031-05-01T10:00".
func readMonth(s string) (year, month int, ok bool) {
	if len(s) < 7 || s[4] != '-' {
		return 0, 0, false
	}
	if len(s) > 7 && (len(s) < 10 || s[7] != '-' || number(s[8:10]) < 0 || len(s) > 10 && s[10] != 'T') {
		return 0, 0, false
	}
	return yearAndMonth(s[:4], s[5:7])
}

// yearAndMonth parses a four-digit year and a month.
func yearAndMonth(years, months string) (year, month int, ok bool) {
	if len(years) != 4 || len(months) == 0 || len(months) > 2 {
		return 0, 0, false
	}
	year, month = number(years), number(months)
	return year, month, year >= 0 && 1 <= month && month <= 12
}

// number parses a short number; -1 = s is not one.
func number(s string) (n int) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return -1
		}
		n = 10*n + int(s[i]-'0')
	}
	return n
}

// splitURL splits a normalized URL. query has no question mark.
func splitURL(u string) (host, path, query string) {
	_, rest, _ := strings.Cut(u, "://")
	rest, query, _ = strings.Cut(rest, "?")
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return rest[:i], rest[i:], query
	}
	return rest, "", query
}
