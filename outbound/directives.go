package outbound

import (
	"net/http"
	"strings"
)

// directives are what a page asks of crawlers.
type directives struct{ noIndex, noFollow bool }

// add takes in a list such as "noindex, nofollow". It skips what it does not know. Lists add up: the strictest counts.
func (d *directives) add(list string) {
	for name := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == ';' || r <= ' ' }) {
		none := strings.EqualFold(name, "none")
		d.noIndex = d.noIndex || none || strings.EqualFold(name, "noindex")
		d.noFollow = d.noFollow || none || strings.EqualFold(name, "nofollow")
	}
}

// addHeader takes in the X-Robots-Tag headers of a response, as far as they are for agent. A name and a colon begin the
// part of a line for one crawler: "noarchive, other: none, linkwatch: noindex".
func (d *directives) addHeader(header http.Header, agent string) {
	for _, line := range header["X-Robots-Tag"] {
		mine := true
		for part := range strings.SplitSeq(line, ",") {
			name, rest, found := strings.Cut(part, ":")
			if name = strings.TrimSpace(name); found && isToken(name) && !valued[strings.ToLower(name)] {
				mine, part = strings.EqualFold(name, agent), rest
			}
			if mine {
				d.add(part)
			}
		}
	}
}

// valued are the directives that have a colon and a value.
var valued = map[string]bool{
	"unavailable_after": true, "max-snippet": true, "max-image-preview": true, "max-video-preview": true,
}

// isToken tells a crawler's name from the pieces of a date.
func isToken(name string) bool {
	for i := range len(name) {
		if c := name[i] | 0x20; (c < 'a' || c > 'z') && name[i] != '-' && name[i] != '_' && (name[i] < '0' || name[i] > '9') {
			return false
		}
	}
	return name != ""
}
