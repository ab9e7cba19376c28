package targets

import "testing"

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
		if segmentHeights[k] == 0 {
			t.Errorf("%s has no height", k)
		}
	}
}
