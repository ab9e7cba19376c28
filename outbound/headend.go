package outbound

import (
	"bytes"

	"golang.org/x/net/html"
)

// bodyAllowance is the number of bytes after the head that are searched for og:title, which some pages have in the body.
const bodyAllowance = 512 << 10

// NewHeadEnd returns a function for Request.Until that is true once the metadata is complete. That is when the head has
// ended and og:title was found, or 512 KiB of the body have none. It has state: use it for one fetch, and do not call
// it after it returned true. The work of all its calls is linear in the size of the page.
func NewHeadEnd() func(body []byte) bool {
	var (
		at    int // everything before is parsed
		tryAt int // length of the body at which parsing continues
		end   int // end of the head
		ended bool
		named bool // og:title was found
		depth int  // in <template>
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
			// A token at the end of the body may be incomplete unless it is a tag.
			last = pos >= len(body)
			if kind != html.StartTagToken && kind != html.EndTagToken && kind != html.SelfClosingTagToken {
				if !last {
					at = pos
				}
				continue
			}
			name, _ := z.TagName()
			switch {
			case string(name) == "template" && kind == html.EndTagToken:
				depth = max(0, depth-1)
			case string(name) == "template":
				depth++
			case depth > 0:
			case string(name) == "meta" && kind != html.EndTagToken:
				s := scanner{values: map[string]string{}}
				s.meta(readAttributes(z))
				named = named || s.values["og:title"] != ""
			case !ended && (string(name) == "head" && kind == html.EndTagToken || string(name) == "body"):
				ended, end = true, pos
			}
			// A tokenizer that starts after one of these tags would parse its raw text as markup.
			if kind == html.EndTagToken || !rawText[string(name)] {
				at = pos
			}
		}
		// The rest is parsed again next time. Waiting until it has doubled keeps the total work linear.
		tryAt = at + 2*(len(body)-at)
		return ended && (named || len(body)-end > bodyAllowance)
	}
}

// rawText are the elements whose content is not markup (Tokenizer in x/net/html).
var rawText = map[string]bool{
	"iframe": true, "noembed": true, "noframes": true, "noscript": true, "plaintext": true, "script": true,
	"style": true, "textarea": true, "title": true, "xmp": true,
}
