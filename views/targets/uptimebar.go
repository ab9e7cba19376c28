package targets

import (
	"fmt"
	"strings"
)

// segmentKind determines the color and the height of a segment.
type segmentKind string

// The kinds of segments.
const (
	segmentNone      segmentKind = "none"      // no data: a dot
	segmentUp        segmentKind = "up"        // two thirds of the height
	segmentPartly    segmentKind = "partly"    // up for some of the time: as high as up, in the warning color
	segmentDown      segmentKind = "down"      // full height
	segmentThrottled segmentKind = "throttled" // neither up nor down: low
)

var segmentKinds = []segmentKind{segmentNone, segmentUp, segmentPartly, segmentDown, segmentThrottled}

// segment is one part of an uptime bar. Title is shown on hover. Segments without one share
// an SVG path per kind, which keeps long lists small.
type segment struct {
	Kind  segmentKind
	Title string
}

// The size of an uptime bar, in units of its viewBox.
const (
	segmentStep   = 6
	segmentWidth  = 4
	segmentHeight = 24
)

// segmentHeights are the heights of the segments, centered vertically.
var segmentHeights = map[segmentKind]int{segmentNone: 4, segmentUp: 16, segmentPartly: 16, segmentDown: segmentHeight, segmentThrottled: 9}

// segmentPath returns the path of the segment at an index.
func segmentPath(at int, k segmentKind) string {
	h := segmentHeights[k]
	return fmt.Sprintf("M%d %dh%dv%dh-%dz", at*segmentStep, (segmentHeight-h)/2, segmentWidth, h, segmentWidth)
}

// segmentPaths returns the path of all segments of a kind that have no title.
func segmentPaths(segments []segment, k segmentKind) string {
	var d strings.Builder
	for at, b := range segments {
		if b.Kind == k && b.Title == "" {
			d.WriteString(segmentPath(at, k))
		}
	}
	return d.String()
}

func uptimeBarBox(segments []segment) string {
	return fmt.Sprintf("0 0 %d %d", max(len(segments), 1)*segmentStep-(segmentStep-segmentWidth), segmentHeight)
}
