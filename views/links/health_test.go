package links

import (
	"testing"

	"linkwatch/models/links"
)

func TestExplain(t *testing.T) {
	for want, l := range map[string]links.Link{
		"The page answers.": {Health: links.OK, LastStatusCode: 200},
		"Could not be reached: host not found, 2 days in a row. After 3 it counts as dead.": {
			Health: links.Suspect, LastError: "host not found", Failures: 2},
		"Could not be reached: the site answered 503, 1 day in a row. After 3 it counts as dead.": {
			Health: links.Suspect, LastError: "unexpected status 503", LastStatusCode: 503, Failures: 1},
		"Could not be reached: timed out, 3 days in a row.": {Health: links.Dead, LastError: "timed out", Failures: 3},
		"The page is gone: the site answered 410.":          {Health: links.Dead, LastError: "unexpected status 410", LastStatusCode: 410},
		"The site keeps programs out (it answered 403). It may open in your browser; it is never expired for this.": {
			Health: links.Blocked, LastStatusCode: 403},
	} {
		if got := explain(l); got != want {
			t.Errorf("%s: %q, want %q", l.Health, got, want)
		}
	}
	for _, h := range links.Healths {
		if explain(links.Link{Health: h}) == "" || healthIcon(h) == "" {
			t.Errorf("%s has no words or no shape", h)
		}
	}
}
