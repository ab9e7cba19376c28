package outbound

import (
	"net/http"
	"strings"
)

// directives are the rules of a page for crawlers.
type directives struct{ noIndex, noFollow bool }

// add applies a list such as "noindex, nofollow" and ignores unknown words. Lists add up: the strictest counts.
func (d *directives) add(list string) {
	for name := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == ';' || r <= ' ' }) {
		none := strings.EqualFold(name, "none")
		d.noIndex = d.noIndex || none || strings.EqualFold(name, "noindex")
		d.noFollow = d.noFollow || none || strings.EqualFold(name, "nofollow")
	}
}

// addHeader applies the parts of X-Robots-Tag headers that are for all crawlers or for agent. A name and a colon start the
// part for one crawler: "noarchive, other: none, linkwatch: noindex".
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

// valued are the directives with a colon and a value.
var valued = map[string]bool{
	"unavailable_after": true, "max-snippet": true, "max-image-preview": true, "max-video-preview": true,
}

// isToken reports whether name can be the name of a crawler, and not a part of a date.
func isToken(name string) bool {
	for i := range len(name) {
		if c := name[i] | 0x20; (c < 'a' || c > 'z') && name[i] != '-' && name[i] != '_' && (name[i] < '0' || name[i] > '9') {
			return false
		}
	}
	return name != ""
}
