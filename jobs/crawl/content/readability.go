package content

import (
	"bytes"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/go-shiori/go-readability"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Limits of pages for go-readability, whose run time grows with the depth of the page.
const (
	readableBytes    = 1 << 20
	readableElements = 10_000
	readableDepth    = 100
	readableText     = 1 << 20 // bytes of the extracted text
)

// readable returns the text that go-readability extracts, one paragraph per line. It returns "" if the page is too large or too
// deep, or if the library panics.
func readable(body []byte, base string) (text string) {
	if len(body) > readableBytes || bytes.Count(body, []byte("<")) > 2*readableElements {
		return ""
	}
	defer func() {
		if recover() != nil {
			text = ""
		}
	}()
	doc, err := html.Parse(bytes.NewReader(body)) // fails above 512 levels
	if err != nil || !shallow(doc) {
		return ""
	}
	page, err := url.Parse(base)
	if err != nil {
		page = nil
	}
	parser := readability.NewParser()
	parser.MaxElemsToParse = readableElements
	article, err := parser.ParseDocument(doc, page)
	if err != nil || article.Node == nil {
		return ""
	}
	var p paragraphs
	p.add(article.Node)
	return p.String()
}

// shallow reports whether a document is within the limits.
func shallow(doc *html.Node) bool {
	depth, elements := 0, 0
	for n := doc; ; {
		if elements++; depth > readableDepth || elements > 4*readableElements {
			return false
		}
		if n.FirstChild != nil {
			n = n.FirstChild
			depth++
			continue
		}
		for n.NextSibling == nil {
			if n = n.Parent; n == nil || n == doc {
				return true
			}
			depth--
		}
		n = n.NextSibling
	}
}

// paragraphs collects the text of a document.
type paragraphs struct {
	strings.Builder
	gap byte // written before the next word
}

// add adds a node and its children recursively. shallow has limited the depth.
func (p *paragraphs) add(n *html.Node) {
	if n.Type == html.TextNode {
		p.words(n.Data)
		return
	}
	block := n.Type == html.ElementNode && !inline(n.DataAtom)
	if block {
		p.gap = '\n'
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		p.add(c)
	}
	if block {
		p.gap = '\n'
	} else if n.DataAtom == atom.Br && p.gap == 0 {
		p.gap = ' '
	}
}

func (p *paragraphs) words(text string) {
	rest := strings.TrimLeft(text, " \t\r\n")
	spaced := len(rest) < len(text)
	for word := range strings.FieldsSeq(text) {
		if word = strings.ToValidUTF8(word, string(utf8.RuneError)); p.Len()+len(word) >= readableText {
			return
		}
		if p.gap == 0 && spaced {
			p.gap = ' '
		}
		if p.gap != 0 && p.Len() > 0 {
			_ = p.WriteByte(p.gap)
		}
		_, _ = p.WriteString(word)
		p.gap, spaced = 0, true
	}
	if p.gap == 0 && strings.TrimRight(text, " \t\r\n") != text {
		p.gap = ' '
	}
}

func inline(tag atom.Atom) bool {
	switch tag {
	case atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Br, atom.Cite, atom.Code, atom.Del, atom.Dfn, atom.Em, atom.Font, atom.I, atom.Ins, atom.Kbd,
		atom.Mark, atom.Q, atom.S, atom.Samp, atom.Small, atom.Span, atom.Strong, atom.Sub, atom.Sup, atom.Time, atom.U, atom.Var, atom.Wbr:
		return true
	}
	return false
}
