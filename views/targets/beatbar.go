package targets

import (
	"fmt"
	"strings"
)

// beatKind determines the color and the height of a bar.
type beatKind string

// The kinds of beats.
const (
	beatNone      beatKind = "none"      // no data: a dot
	beatUp        beatKind = "up"        // a bar
	beatPartly    beatKind = "partly"    // up for some of the time: as high as up, in the warning color
	beatDown      beatKind = "down"      // full height
	beatThrottled beatKind = "throttled" // neither up nor down: half a bar
)

var beatKinds = []beatKind{beatNone, beatUp, beatPartly, beatDown, beatThrottled}

// beat is one bar. Title is shown on hover. Bars without one share an SVG path per
// kind, which keeps long lists small.
type beat struct {
	Kind  beatKind
	Title string
}

// The size of a beat bar, in units of its viewBox.
const (
	beatStep   = 6
	beatWidth  = 4
	beatHeight = 24
)

// beatHeights are the heights of the bars, centered vertically.
var beatHeights = map[beatKind]int{beatNone: 4, beatUp: 16, beatPartly: 16, beatDown: beatHeight, beatThrottled: 9}

// beatPath returns the path of the bar at an index.
func beatPath(at int, k beatKind) string {
	h := beatHeights[k]
	return fmt.Sprintf("M%d %dh%dv%dh-%dz", at*beatStep, (beatHeight-h)/2, beatWidth, h, beatWidth)
}

// beatPaths returns the path of all bars of a kind that have no title.
func beatPaths(beats []beat, k beatKind) string {
	var d strings.Builder
	for at, b := range beats {
		if b.Kind == k && b.Title == "" {
			d.WriteString(beatPath(at, k))
		}
	}
	return d.String()
}

func beatBox(beats []beat) string {
	return fmt.Sprintf("0 0 %d %d", max(len(beats), 1)*beatStep-(beatStep-beatWidth), beatHeight)
}
