// Package qr draws QR codes.
package qr

import (
	"bytes"
	"encoding/xml"
	"fmt"

	encoder "rsc.io/qr"
)

// quiet is the width of the white margin in modules (ISO/IEC 18004).
const quiet = 4

// SVG returns text as a QR code: an SVG image of one unit per module, black on
// white, without a size of its own. The error correction level is M, so 15% of
// the code may be unreadable. The same text gives the same bytes. Text of more
// than 2331 bytes does not fit and is an error.
func SVG(text string) ([]byte, error) { return Titled(text, "QR code of "+text) }

// Titled is SVG with a title, which screen readers and tooltips tell.
func Titled(text, caption string) ([]byte, error) {
	code, err := encoder.Encode(text, encoder.M)
	if err != nil {
		return nil, fmt.Errorf("making a QR code: %w", err)
	}
	var title, svg bytes.Buffer
	if err := xml.EscapeText(&title, []byte(caption)); err != nil {
		return nil, fmt.Errorf("writing the title of a QR code: %w", err)
	}
	side := code.Size + 2*quiet
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" shape-rendering="crispEdges">`+
		`<title>%s</title><rect width="%d" height="%d" fill="#fff"/><path fill="#000" d="`,
		side, side, title.Bytes(), side, side)
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			from := x
			for code.Black(x, y) { // false beyond the edge
				x++
			}
			if x > from {
				fmt.Fprintf(&svg, "M%d %dh%dv1h-%dz", from+quiet, y+quiet, x-from, x-from)
			}
		}
	}
	svg.WriteString(`"/></svg>`)
	return svg.Bytes(), nil
}
