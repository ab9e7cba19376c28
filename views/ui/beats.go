package ui

import (
	"fmt"
	"strings"
)

// BeatKind is what one bar of a beat bar says, by its colour and its height.
type BeatKind string

// The kinds of beats.
const (
	BeatNone      BeatKind = "none"      // nothing was measured: a dot
	BeatUp        BeatKind = "up"        // a bar
	BeatPartly    BeatKind = "partly"    // up for some of the time: a bar as high, in the colour of a warning
	BeatDown      BeatKind = "down"      // the whole height
	BeatThrottled BeatKind = "throttled" // says neither: half a bar
)

var beatKinds = []BeatKind{BeatNone, BeatUp, BeatPartly, BeatDown, BeatThrottled}

// Beat is one bar. Title is shown while the mouse rests on it; the bars that
// have none are drawn together, which makes a long list of them small.
type Beat struct {
	Kind  BeatKind
	Title string
}

// The measures of a beat bar, in units of its picture.
const (
	beatStep   = 6
	beatWidth  = 4
	beatHeight = 24
)

// beatHeights are how high the bars stand, around the middle.
var beatHeights = map[BeatKind]int{BeatNone: 4, BeatUp: 16, BeatPartly: 16, BeatDown: beatHeight, BeatThrottled: 9}

// beatBar is the outline of the bar at a place of the row.
func beatBar(at int, k BeatKind) string {
	h := beatHeights[k]
	return fmt.Sprintf("M%d %dh%dv%dh-%dz", at*beatStep, (beatHeight-h)/2, beatWidth, h, beatWidth)
}

// beatBars are the outlines of all bars of a kind that have no title of their own.
func beatBars(beats []Beat, k BeatKind) string {
	var d strings.Builder
	for at, b := range beats {
		if b.Kind == k && b.Title == "" {
			d.WriteString(beatBar(at, k))
		}
	}
	return d.String()
}

func beatBox(beats []Beat) string {
	return fmt.Sprintf("0 0 %d %d", max(len(beats), 1)*beatStep-(beatStep-beatWidth), beatHeight)
}

// StatusIcon is the shape of a status or outcome.
func StatusIcon(status string) string {
	switch status {
	case "up", "active":
		return "check"
	case "expired":
		return "archive"
	case "disabled":
		return "blocked"
	case "down":
		return "dead"
	case "paused":
		return "pause"
	case "throttled":
		return "clock"
	}
	return "unchecked"
}
