package shortlinks

import (
	"bytes"
	"encoding/xml"
	"fmt"

	"rsc.io/qr"
)

// quiet is how many modules around a QR code stay white (ISO/IEC 18004).
const quiet = 4

// QR is an address as a QR code: an SVG of one unit per module, black on white
// whatever is around it, that takes the size it is given. 15 in 100 of it may be
// unreadable (level M). The same address is always the same bytes. An address of
// more than 2331 bytes does not fit.
func QR(address string) ([]byte, error) {
	code, err := qr.Encode(address, qr.M)
	if err != nil {
		return nil, fmt.Errorf("making a QR code: %w", err)
	}
	var title, svg bytes.Buffer
	if err := xml.EscapeText(&title, []byte(address)); err != nil {
		return nil, fmt.Errorf("writing the title of a QR code: %w", err)
	}
	side := code.Size + 2*quiet
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" shape-rendering="crispEdges">`+
		`<title>QR code of %s</title><rect width="%d" height="%d" fill="#fff"/><path fill="#000" d="`,
		side, side, title.Bytes(), side, side)
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			from := x
			for code.Black(x, y) { // which nothing is beyond the edge
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
