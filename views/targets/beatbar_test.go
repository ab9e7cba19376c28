package targets

import "testing"

func TestBeatBars(t *testing.T) {
	beats := []beat{{Kind: beatUp}, {Kind: beatDown, Title: "down"}, {Kind: beatUp}}
	if got := beatPaths(beats, beatUp); got != "M0 4h4v16h-4zM12 4h4v16h-4z" {
		t.Errorf("%q", got)
	}
	if got := beatPaths(beats, beatDown); got != "" {
		t.Errorf("a bar with a title is drawn twice: %q", got)
	}
	if beatBox(beats) != "0 0 16 24" || beatBox(nil) != "0 0 4 24" {
		t.Errorf("%q, %q", beatBox(beats), beatBox(nil))
	}
	for _, k := range beatKinds {
		if beatHeights[k] == 0 {
			t.Errorf("%s has no height", k)
		}
	}
}
