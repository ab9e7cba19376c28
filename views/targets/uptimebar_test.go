package targets

import (
	"strings"
	"testing"
)

func TestUptimeBar(t *testing.T) {
	segments := []segment{{Kind: segmentUp}, {Kind: segmentDown, Title: "down"}, {Kind: segmentUp}}
	if got := segmentPaths(segments, segmentUp); got != "M0 4h4v16h-4zM12 4h4v16h-4z" {
		t.Errorf("%q", got)
	}
	if got := segmentPaths(segments, segmentDown); got != "" {
		t.Errorf("a bar with a title is drawn twice: %q", got)
	}
	if uptimeBarBox(segments) != "0 0 16 24" || uptimeBarBox(nil) != "0 0 4 24" {
		t.Errorf("%q, %q", uptimeBarBox(segments), uptimeBarBox(nil))
	}
	for _, k := range segmentKinds {
		if segmentShapes[k] == "" {
			t.Errorf("%s has no shape", k)
		}
	}
}

// Segments with a title are paths of their own, and their titles are escaped.
func TestTitledSegments(t *testing.T) {
	var got strings.Builder
	err := titledSegments([]segment{{Kind: segmentUp}, {Kind: segmentDown, Title: `down <"now">`}}).Render(t.Context(), &got)
	if want := `<path class="down" d="M6 0h4v24h-4z"><title>down &lt;&#34;now&#34;&gt;</title></path>`; err != nil || got.String() != want {
		t.Errorf("got %s, %v, want %s", got.String(), err, want)
	}
}
