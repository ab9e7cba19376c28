package targets

import (
	"fmt"
	"strings"
)

// beatKind is what one bar of a beat bar says, by its colour and its height.
type beatKind string

// The kinds of beats.
const (
	beatNone      beatKind = "none"      // nothing was measured: a dot
	beatUp        beatKind = "up"        // a bar
	beatPartly    beatKind = "partly"    // up for some of the time: a bar as high, in the colour of a warning
	beatDown      beatKind = "down"      // the whole height
	beatThrottled beatKind = "throttled" // says neither: half a bar
)

var beatKinds = []beatKind{beatNone, beatUp, beatPartly, beatDown, beatThrottled}

// beat is one bar. Title is shown while the mouse rests on it; the bars that
// have none are drawn together, which makes a long list of them small.
type beat struct {
	Kind  beatKind
	Title string
}

// The measures of a beat bar, in units of its picture.
const (
	beatStep   = 6
	beatWidth  = 4
	beatHeight = 24
)

// beatHeights are how high the bars stand, around the middle.
var beatHeights = map[beatKind]int{beatNone: 4, beatUp: 16, beatPartly: 16, beatDown: beatHeight, beatThrottled: 9}

// beatPath is the outline of the bar at a place of the row.
func beatPath(at int, k beatKind) string {
	h := beatHeights[k]
	return fmt.Sprintf("M%d %dh%dv%dh-%dz", at*beatStep, (beatHeight-h)/2, beatWidth, h, beatWidth)
}

// beatPaths are the outlines of all bars of a kind that have no title of their own.
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
