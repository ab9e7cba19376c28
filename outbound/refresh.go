package outbound

import "strings"

// htmlSpace is ASCII white space (WHATWG Infra).
const htmlSpace = "\t\n\f\r "

// refresh is an instruction to go to another page after a time, from a Refresh header or <meta http-equiv=refresh>.
type refresh struct {
	found bool   // a browser obeys only the first valid one
	ref   string // unresolved URL; "" = it reloads the page, or only after more than 10 seconds
	base  string // <base href> at that place of the page
	shown bool   // a browser shows the page for a second or more
}

// add parses a value unless there is a refresh. base is the <base href> before it.
func (r *refresh) add(value, base string) {
	if r.found {
		return
	}
	ref, soon, ok := parseRefresh(value)
	if r.found = ok; soon {
		seconds := strings.TrimLeft(value, htmlSpace+"0")
		r.ref, r.base, r.shown = ref, base, seconds != "" && '1' <= seconds[0] && seconds[0] <= '9'
	}
}

// destination returns the absolute URL to which a page goes, without fragment. It returns "" if that is the page itself or
// may not be requested.
func (r *refresh) destination(page string) string {
	if r.ref == "" {
		return ""
	}
	to := newResolver(page, r.base).resolve(r.ref)
	if to == newResolver(page, "").from {
		return ""
	}
	return to
}

// parseRefresh parses a value such as "0; url=/x" (WHATWG HTML, "shared declarative refresh steps"). ref is "" without a URL.
// soon reports whether the time is at most 10 seconds; fractions do not count.
func parseRefresh(value string) (ref string, soon, ok bool) {
	value = strings.TrimLeft(value, htmlSpace)
	rest := strings.TrimLeft(value, "0123456789")
	seconds := value[:len(value)-len(rest)]
	if seconds == "" && !strings.HasPrefix(rest, ".") {
		return "", false, false
	}
	seconds = strings.TrimLeft(seconds, "0")
	soon = len(seconds) < 2 || seconds == "10"
	if rest = strings.TrimLeft(rest, "0123456789."); rest == "" {
		return "", soon, true
	}
	if !strings.Contains(htmlSpace+";,", rest[:1]) {
		return "", false, false
	}
	rest = strings.TrimLeft(rest, htmlSpace)
	if strings.HasPrefix(rest, ";") || strings.HasPrefix(rest, ",") {
		rest = strings.TrimLeft(rest[1:], htmlSpace)
	}
	if name := "url"; len(rest) > len(name) && strings.EqualFold(rest[:len(name)], name) {
		if given, is := strings.CutPrefix(strings.TrimLeft(rest[len(name):], htmlSpace), "="); is {
			rest = strings.TrimLeft(given, htmlSpace)
		}
	}
	if strings.HasPrefix(rest, "'") || strings.HasPrefix(rest, `"`) {
		rest, _, _ = strings.Cut(rest[1:], rest[:1])
	}
	return rest, soon, true
}
