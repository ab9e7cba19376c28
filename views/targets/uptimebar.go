package targets

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/a-h/templ"
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

// segmentShapes are the paths of segments, after their position. They are centered vertically.
var segmentShapes = map[segmentKind]string{
	segmentNone: segmentShape(4), segmentUp: segmentShape(16), segmentPartly: segmentShape(16), segmentDown: segmentShape(segmentHeight), segmentThrottled: segmentShape(9),
}

func segmentShape(height int) string {
	return fmt.Sprintf(" %dh%dv%dh-%dz", (segmentHeight-height)/2, segmentWidth, height, segmentWidth)
}

// segmentPath returns the path of the segment at an index.
func segmentPath(at int, k segmentKind) string {
	return "M" + strconv.Itoa(at*segmentStep) + segmentShapes[k]
}

// titledSegments writes the segments that have a title. This is not a template, because a status page can have 9,000
// of them: a template would add 5 ms to its 21.
func titledSegments(segments []segment) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b []byte
		for at, s := range segments {
			if s.Title == "" {
				continue
			}
			b = append(append(append(b, `<path class="`...), s.Kind...), `" d="`...)
			b = append(append(append(b, segmentPath(at, s.Kind)...), `"><title>`...), templ.EscapeString(s.Title)...)
			b = append(b, "</title></path>"...)
		}
		_, err := w.Write(b)
		return err
	})
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
