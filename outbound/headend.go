package outbound

import (
	"bytes"

	"golang.org/x/net/html"
)

// bodyAllowance is how many bytes after its head a page without og:title is read for one: some put it in the body.
const bodyAllowance = 512 << 10

// NewHeadEnd returns a function for Request.Until that is true once the metadata is there: the head has ended and
// og:title was seen, or a good part of the body has gone by without one. It is for one fetch only, since it remembers
// where it was, and is not to be called again after it was true; the work of all its calls together is linear in the size of the page.
func NewHeadEnd() func(body []byte) bool {
	var (
		at    int // everything before is done with
		tryAt int // no use to look again before the body is this long
		end   int // where the head ended
		ended bool
		named bool // og:title was seen
	)
	return func(body []byte) bool {
		if len(body) < tryAt {
			return ended && len(body)-end > bodyAllowance
		}
		z := html.NewTokenizer(bytes.NewReader(body[at:]))
		pos, last := at, false
		for !last && !(ended && named) {
			kind := z.Next()
			raw := z.Raw()
			pos += len(raw)
			if kind == html.ErrorToken {
				break
			}
			// What touches the end of the body is whole only if it is a tag.
			last = pos >= len(body)
			if kind != html.StartTagToken && kind != html.EndTagToken && kind != html.SelfClosingTagToken {
				if !last {
					at = pos
				}
				continue
			}
			name, _ := z.TagName()
			switch {
			case string(name) == "meta" && kind != html.EndTagToken:
				s := scanner{values: map[string]string{}}
				s.meta(readAttributes(z))
				named = named || s.values["og:title"] != ""
			case !ended && (string(name) == "head" && kind == html.EndTagToken || string(name) == "body"):
				ended, end = true, pos
			}
			// The tokenizer reads the text of these up to their end tag; starting after the tag it would not know.
			if kind == html.EndTagToken || !rawText[string(name)] {
				at = pos
			}
		}
		// The rest is read again next time. Waiting until it has doubled keeps the total work linear.
		tryAt = at + 2*(len(body)-at)
		return ended && (named || len(body)-end > bodyAllowance)
	}
}

// rawText are the elements whose content is not markup (x/net/html, Tokenizer).
var rawText = map[string]bool{
	"iframe": true, "noembed": true, "noframes": true, "noscript": true, "plaintext": true, "script": true,
	"style": true, "textarea": true, "title": true, "xmp": true,
}
