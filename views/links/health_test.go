package links

import (
	"testing"

	"linkwatch/models/links"
)

func TestExplain(t *testing.T) {
	for want, l := range map[string]links.Link{
		"The page responds.": {Health: links.OK, LastStatusCode: 200},
		"Unreachable for 2 days: host not found. Dead after 3 days in a row.": {
			Health: links.Suspect, LastError: "host not found", Failures: 2},
		"Unreachable for 1 day: status 503. Dead after 3 days in a row.": {
			Health: links.Suspect, LastError: "unexpected status 503", LastStatusCode: 503, Failures: 1},
		"Unreachable for 3 days: timed out.": {Health: links.Dead, LastError: "timed out", Failures: 3},
		"The page is gone: status 410.":      {Health: links.Dead, LastError: "unexpected status 410", LastStatusCode: 410},
		"The site refuses automated requests (status 403). The page may still open in your browser. Blocked links never expire.": {
			Health: links.Blocked, LastStatusCode: 403},
	} {
		if got := explain(l); got != want {
			t.Errorf("%s: got %q, want %q", l.Health, got, want)
		}
	}
	for _, h := range links.Healths {
		if explain(links.Link{Health: h}) == "" || healthIcon(h) == "" {
			t.Errorf("%s has no text or no icon", h)
		}
	}
}
