package outbound

import (
	"bytes"

	"golang.org/x/net/html"
)

// hint says what the attributes of an element suggest about its text.
type hint uint8

const (
	invisible  hint = 1 << iota // the browser does not show it
	unlikely                    // not main text, such as a menu
	likely                      // may be main text; overrides unlikely
	favored                     // raises the score
	disfavored                  // lowers the score
)

// hintWords are words in class and id attributes. They also match inside longer words, such as articleBody.
var hintWords = [...]struct {
	word string
	hint hint
}{
	{"ad-break", unlikely}, {"agegate", unlikely}, {"article", likely | favored}, {"banner", unlikely | disfavored},
	{"blog", favored}, {"body", likely | favored}, {"breadcrumb", unlikely}, {"byline", unlikely | disfavored}, {"column", likely},
	{"combx", unlikely | disfavored}, {"comment", unlikely | disfavored}, {"community", unlikely}, {"consent", unlikely | disfavored},
	{"contact", disfavored}, {"content", likely | favored}, {"cookie", unlikely | disfavored}, {"disqus", unlikely | disfavored},
	{"entry", favored}, {"extra", unlikely}, {"footer", unlikely | disfavored}, {"gdpr", unlikely | disfavored}, {"header", unlikely},
	{"legends", unlikely}, {"main", likely | favored}, {"masthead", disfavored}, {"media", disfavored}, {"menu", unlikely}, {"meta", disfavored},
	{"navbar", unlikely}, {"newsletter", unlikely | disfavored}, {"outbrain", unlikely | disfavored}, {"page", favored},
	{"pager", unlikely}, {"pagination", unlikely}, {"popup", unlikely}, {"post", favored}, {"promo", disfavored},
	{"recommend", unlikely | disfavored}, {"related", unlikely | disfavored}, {"remark", unlikely}, {"replies", unlikely}, {"rss", unlikely}, {"scroll", disfavored},
	{"shadow", likely}, {"share", disfavored}, {"shopping", disfavored}, {"shoutbox", unlikely | disfavored}, {"sidebar", unlikely | disfavored},
	{"skyscraper", unlikely | disfavored}, {"social", unlikely | disfavored}, {"sponsor", unlikely | disfavored}, {"story", favored},
	{"subscribe", disfavored}, {"supplemental", unlikely}, {"taboola", unlikely | disfavored}, {"tags", disfavored}, {"text", favored},
	{"toolbar", unlikely | disfavored}, {"widget", disfavored},
}

// hintsByLetter are the indexes of hintWords by their first letter.
var hintsByLetter = func() (by ['z' + 1][]uint8) {
	for i, h := range hintWords {
		by[h.word[0]] = append(by[h.word[0]], uint8(i))
	}
	return by
}()

// hintLimit is the number of bytes of an attribute that are searched.
const hintLimit = 128

// wordHints returns the hints of a class or id.
func wordHints(value []byte) (h hint) {
	var buf [hintLimit]byte
	lower := buf[:copy(buf[:], value)]
	for i, c := range lower {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c | 0x20
		}
	}
	for i, c := range lower {
		if c > 'z' {
			continue
		}
		for _, n := range hintsByLetter[c] {
			if w := hintWords[n].word; len(lower)-i >= len(w) && string(lower[i:i+len(w)]) == w {
				h |= hintWords[n].hint
			}
		}
	}
	return h
}

// readHints returns the hints of the attributes of the current tag.
func readHints(z *html.Tokenizer) (h hint) {
	for more := true; more; {
		var key, val []byte
		key, val, more = z.TagAttr()
		switch string(key) {
		case "class", "id":
			h |= wordHints(val)
		case "role":
			h |= roleHints(val)
		case "itemprop":
			if string(val) == "articleBody" {
				h |= likely | favored
			}
		case "hidden":
			h |= invisible
		case "aria-hidden", "aria-modal":
			if string(val) == "true" {
				h |= invisible
			}
		case "style":
			if hiddenStyle(val) {
				h |= invisible
			}
		}
	}
	return h
}

func roleHints(role []byte) hint {
	switch string(role) {
	case "main", "article":
		return likely | favored
	case "menu", "menubar", "complementary", "navigation", "alert", "alertdialog", "dialog", "banner", "contentinfo", "search":
		return unlikely | disfavored
	}
	return 0
}

// hiddenStyle reports whether a style hides its element.
func hiddenStyle(style []byte) bool {
	style = style[:min(len(style), hintLimit)]
	for _, rule := range [...]struct{ property, value string }{{"display", "none"}, {"visibility", "hidden"}} {
		_, value, found := bytes.Cut(style, []byte(rule.property))
		if found && bytes.HasPrefix(bytes.TrimLeft(value, " :"), []byte(rule.value)) {
			return true
		}
	}
	return false
}
