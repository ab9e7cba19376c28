package outbound

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
)

// wanted are the meta names whose content is used.
var wanted = withNames(map[string]bool{
	"og:title": true, "og:description": true, "og:image": true, "og:image:url": true, "og:image:secure_url": true,
	"og:site_name": true, "og:type": true, "twitter:title": true, "description": true,
}, publishedNames[:], modifiedNames[:], authorNames[:])

func withNames(set map[string]bool, lists ...[]string) map[string]bool {
	for _, names := range lists {
		for _, name := range names {
			set[name] = true
		}
	}
	return set
}

// scanner collects the metadata of a page.
type scanner struct {
	values    map[string]string
	title     string
	base      string     // the first <base href>
	refresh   refresh    // the Refresh header, else the first <meta http-equiv=refresh>
	svg, math int        // depth in <svg> and <math>, whose <title> is not that of the page
	foreign   int        // depth in HTML inside them
	templates templates  // the open <template> elements, whose content has no metadata of the page
	agent     string     // <meta> with this name counts as robots; "" = none
	robots    directives // of <meta name=robots>
}

func (s *scanner) scan(z *html.Tokenizer) {
	for {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			s.start(z, kind, tagName(z))
		case html.EndTagToken:
			s.end(tagName(z))
		}
	}
}

// tagName returns the name of the current tag, valid until the next token. Unlike Tokenizer.TagName it does not copy.
func tagName(z *html.Tokenizer) []byte {
	raw := bytes.TrimPrefix(z.Raw()[1:], []byte("/"))
	for i, c := range raw {
		switch {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-':
		case c == ' ' || c == '>':
			return raw[:i]
		default:
			name, _ := z.TagName()
			return name
		}
	}
	return raw
}

// start handles a start tag, and reports whether it also read the next token. name is invalid then.
func (s *scanner) start(z *html.Tokenizer, kind html.TokenType, name []byte) (readNext bool) {
	if s.svg+s.math > 0 {
		switch {
		case s.foreign > 0:
		case elements[string(name)]&breaksOut != 0:
			s.svg, s.math = 0, 0
		default:
			z.NextIsNotRawText()
		}
	}
	switch string(name) {
	case "meta":
		if s.templates.depth == 0 {
			s.meta(readAttributes(z))
		}
	case "base":
		if s.base == "" && s.templates.depth == 0 {
			s.base = readAttributes(z).href
		}
	case "template":
		s.openTemplate(readAttributes(z).shadowRootMode)
	case "title":
		if s.svg+s.math+s.templates.depth > 0 || s.title != "" || kind != html.StartTagToken {
			return false
		}
		if z.Next() == html.TextToken {
			s.title = string(bytes.TrimSpace(z.Text()))
		}
		return true
	case "svg", "math", "foreignobject", "annotation-xml":
		if kind == html.StartTagToken {
			*s.depth(name)++
		}
	}
	return false
}

// end handles an end tag.
func (s *scanner) end(name []byte) {
	if string(name) == "template" {
		s.closeTemplate()
	}
	if depth := s.depth(name); depth != nil && *depth > 0 {
		*depth--
	}
	if s.svg+s.math == 0 {
		s.foreign = 0
	}
}

// depth returns the counter of an element, or nil.
func (s *scanner) depth(name []byte) *int {
	switch string(name) {
	case "svg":
		return &s.svg
	case "math":
		return &s.math
	case "foreignobject", "annotation-xml":
		return &s.foreign
	}
	return nil
}

// meta stores the content of a <meta> whose property or name is wanted, ignoring case. A property with several names (RDFa)
// is not split: the pages in fixtures_test.go expect that.
func (s *scanner) meta(attr attributes) {
	if strings.TrimSpace(attr.content) == "" {
		return
	}
	for _, name := range [...]string{attr.property, attr.name} {
		if name = strings.ToLower(strings.TrimSpace(name)); wanted[name] && s.values[name] == "" {
			s.values[name] = attr.content
		}
	}
	if strings.EqualFold(attr.httpEquiv, "refresh") {
		s.refresh.add(attr.content, s.base)
	}
	s.item(attr.itemprop, attr.content)
	if name := strings.TrimSpace(attr.name); strings.EqualFold(name, "robots") || s.agent != "" && strings.EqualFold(name, s.agent) {
		s.robots.add(attr.content)
	}
}

// item stores the value of a microdata property that is wanted.
func (s *scanner) item(property, value string) {
	if property == "" || len(property) > 32 {
		return
	}
	if name := "itemprop:" + strings.ToLower(strings.TrimSpace(property)); wanted[name] && s.values[name] == "" {
		s.values[name] = value
	}
}

// attributes are the used attributes of a tag. Missing ones are empty.
type attributes struct {
	alt, charset, content, href, httpEquiv, lang, name, property, rel string
	itemprop, kind, title, datetime, pubdate, src, shadowRootMode     string // kind is the attribute type
	given                                                             uint16 // bit n is set if the tag has attribute n of field
}

const (
	hrefBit    = 1 << 3
	pubdateBit = 1 << 13
)

// readAttributes returns the attributes of the current tag. Of repeated ones the first counts, as in a browser.
func readAttributes(z *html.Tokenizer) attributes {
	var attr attributes
	for more := true; more; {
		var key, val []byte
		key, val, more = z.TagAttr() // empty for a tag without attributes
		if to, bit := attr.field(key); attr.given&bit == 0 && to != nil {
			*to = string(val)
			attr.given |= bit
		}
	}
	return attr
}

// field returns the field of an attribute and its bit, or nil.
func (a *attributes) field(key []byte) (to *string, bit uint16) {
	switch string(key) {
	case "alt":
		return &a.alt, 1 << 0
	case "charset":
		return &a.charset, 1 << 1
	case "content":
		return &a.content, 1 << 2
	case "href":
		return &a.href, hrefBit
	case "http-equiv":
		return &a.httpEquiv, 1 << 4
	case "lang":
		return &a.lang, 1 << 5
	case "name":
		return &a.name, 1 << 6
	case "property":
		return &a.property, 1 << 7
	case "rel":
		return &a.rel, 1 << 8
	case "itemprop":
		return &a.itemprop, 1 << 9
	case "type":
		return &a.kind, 1 << 10
	case "title":
		return &a.title, 1 << 11
	case "datetime":
		return &a.datetime, 1 << 12
	case "pubdate":
		return &a.pubdate, pubdateBit
	case "src":
		return &a.src, 1 << 14
	case "shadowrootmode":
		return &a.shadowRootMode, 1 << 15
	}
	return nil, 0
}
