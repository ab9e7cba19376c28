package qr_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image"
	"strings"
	"testing"

	encoder "rsc.io/qr"

	"linkwatch/models/shortlinks"
	"linkwatch/views/qr"
)

// picture is what a viewer of an SVG sees of a QR code.
type picture struct {
	XMLName xml.Name `xml:"http://www.w3.org/2000/svg svg"`
	ViewBox string   `xml:"viewBox,attr"`
	Role    string   `xml:"role,attr"`
	Title   string   `xml:"title"`
	Ground  struct {
		Width  int    `xml:"width,attr"`
		Height int    `xml:"height,attr"`
		Fill   string `xml:"fill,attr"`
	} `xml:"rect"`
	Path []struct {
		Fill string `xml:"fill,attr"`
		D    string `xml:"d,attr"`
	} `xml:"path"`
}

func TestSVG(t *testing.T) {
	for _, address := range []string{
		"https://go.example/abcd",
		"http://127.0.0.1:8080/s/0000000",
		"https://links.example/s/" + strings.Repeat("k", shortlinks.MaxKey),
		"https://" + strings.Repeat("a.", 120) + "example/s/" + strings.Repeat("k", shortlinks.MaxKey),
		`https://a.example/?x=<b>&y="'` + "\x01ä", // whatever comes, it is text
	} {
		svg, err := qr.SVG(address)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := qr.SVG(address); err != nil || !bytes.Equal(svg, again) {
			t.Errorf("%q is not the same twice (%v)", address, err)
		}
		var p picture
		if err := xml.Unmarshal(svg, &p); err != nil {
			t.Fatalf("%q: %v: %s", address, err, svg)
		}
		want, err := encoder.Encode(address, encoder.M)
		if err != nil {
			t.Fatal(err)
		}
		const quiet = 4
		side := want.Size + 2*quiet
		if p.ViewBox != fmt.Sprintf("0 0 %d %d", side, side) || p.Role != "img" {
			t.Errorf("%q: viewBox %q, role %q", address, p.ViewBox, p.Role)
		}
		if title := "QR code of " + strings.ReplaceAll(address, "\x01", "\uFFFD"); p.Title != title {
			t.Errorf("the title is %q, want %q", p.Title, title)
		}
		if p.Ground.Fill != "#fff" || p.Ground.Width != side || p.Ground.Height != side || len(p.Path) != 1 || p.Path[0].Fill != "#000" {
			t.Fatalf("%q: ground %+v, path %+v", address, p.Ground, p.Path)
		}
		black := modules(t, p.Path[0].D)
		for y := range side {
			for x := range side {
				if at := image.Pt(x, y); black[at] != want.Black(x-quiet, y-quiet) {
					t.Fatalf("%q: the module at %v is black: %v", address, at, black[at])
				}
			}
		}
	}
}

func TestSVGOfTooLongAText(t *testing.T) {
	if svg, err := qr.SVG(strings.Repeat("a", 2331)); err != nil || len(svg) == 0 {
		t.Error("2331 bytes do not fit:", err)
	}
	if svg, err := qr.SVG(strings.Repeat("a", 2332)); err == nil {
		t.Errorf("2332 bytes became an SVG of %d", len(svg))
	}
}

// modules are the ones that a path covers. It fails the test if the path is
// anything but rectangles, one module high, that do not overlap.
func modules(t *testing.T, path string) map[image.Point]bool {
	t.Helper()
	covered := map[image.Point]bool{}
	for run := range strings.SplitAfterSeq(strings.TrimSuffix(path, "z"), "z") {
		var x, y, width, back int
		n, err := fmt.Sscanf(run, "M%d %dh%dv1h-%d", &x, &y, &width, &back)
		if err != nil || n != 4 || width < 1 || back != width {
			t.Fatalf("%q is not such a rectangle: %v", run, err)
		}
		for i := range width {
			if at := image.Pt(x+i, y); covered[at] {
				t.Fatalf("%v is covered twice", at)
			} else {
				covered[at] = true
			}
		}
	}
	return covered
}
