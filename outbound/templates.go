package outbound

import "strings"

// templates are the open <template> elements of a page. Their content is no part of the page, but a browser shows that of a
// declarative shadow root (WHATWG HTML, "shadowrootmode").
type templates struct {
	depth      int
	inertDepth int // of the outermost one that is no shadow root; 0 = none
	outside    struct{ svg, math, foreign int }
}

// inert reports whether a browser does not show the content.
func (t *templates) inert() bool { return t.inertDepth > 0 }

// openTemplate handles a start tag with an attribute shadowrootmode. In SVG and MathML it is another element.
func (s *scanner) openTemplate(shadowRootMode string) {
	if s.svg+s.math > 0 && s.foreign == 0 {
		return
	}
	t := &s.templates
	if t.depth == 0 {
		t.outside.svg, t.outside.math, t.outside.foreign = s.svg, s.math, s.foreign
	}
	t.depth++
	shadow := strings.EqualFold(shadowRootMode, "open") || strings.EqualFold(shadowRootMode, "closed")
	if !shadow && t.inertDepth == 0 {
		t.inertDepth = t.depth
	}
}

// closeTemplate handles an end tag. It also ends <svg> and <math> that the template left open.
func (s *scanner) closeTemplate() {
	t := &s.templates
	if t.depth == 0 {
		return
	}
	if t.depth == t.inertDepth {
		t.inertDepth = 0
	}
	if t.depth--; t.depth == 0 {
		s.svg, s.math, s.foreign = t.outside.svg, t.outside.math, t.outside.foreign
	}
}
