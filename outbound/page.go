package outbound

import (
	"bytes"
	"cmp"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/html"
)

// Limits of a page.
const (
	// MaxLinks is the maximum number of links that ParsePage returns.
	MaxLinks = 10_000

	linkTextLimit = 200     // runes
	languageLimit = 35      // bytes
	textLimit     = 1 << 20 // bytes
	maxAnchors    = 4 * MaxLinks
)

// Page is the content of an HTML page that a crawler uses. Every string is plain text, which must be escaped in HTML.
type Page struct {
	Metadata
	Language          string // lang of <html>, at most 35 bytes of letters, digits and -
	Canonical         string // absolute http or https URL without fragment, from the first <link rel=canonical> in the head, else the Link header
	NoIndex, NoFollow bool   // from <meta name=robots> and X-Robots-Tag
	Links             []Link // of <a>, <area> and <frame>, unique by URL, in the order of the page; none with NoFollow
	LinksCut          bool   // the page has more than MaxLinks links
	// Text is the visible text, at most 1 MiB, with single spaces between words. Blocks, cells and line breaks separate words.
	// Changes of attributes and white space do not change Text, so its hash shows whether the content has changed.
	Text string
	// Main is the main text, at most 1 MiB: one paragraph per line, with single spaces between words. A page without
	// recognizable main text has all its visible text here.
	Main string
	// Headings are the texts of the visible h1, h2 and h3, at most 50 of at most 200 runes.
	Headings []string
	// Author, Published and Modified come from JSON-LD, <meta> or microdata. Author has at most 200 runes, with commas between
	// several authors. Times are in UTC, from 1990 to a year from now; zero = unknown.
	Author              string
	Published, Modified time.Time
	// JSONLD is a JSON array of the JSON-LD objects of the page, including @graph, with their common fields. author is an array
	// of {"name"}, publisher is {"name"}, wordCount is a number, all others are strings. At most 32 KiB; "" = none.
	JSONLD string
	Feeds  []Link // absolute URLs of feeds with their titles, at most 20; none with NoFollow
}

// Link is a link of a page that a crawler may follow.
type Link struct {
	URL  string // absolute, http or https, without fragment, at most 2048 bytes
	Text string // of the first link to URL that has text; at most 200 runes
}

// ParsePage parses an HTML page in UTF-8. base is the page's URL and header is that of the response. agent is the crawler's
// name in page rules (<meta name=agent>, "X-Robots-Tag: agent: noindex"). Links with rel=nofollow, ugc or sponsored are left
// out. The work is linear in the size of the page.
func ParsePage(body []byte, base string, header http.Header, agent string) Page {
	p := pageScanner{scanner: scanner{values: map[string]string{}, agent: agent}, open: -1, outline: newOutline()}
	p.text.b = make([]byte, 0, len(body)/4)
	p.robots.addHeader(header, agent)
	p.refresh.add(header.Get("Refresh"), "")
	p.scan(html.NewTokenizer(bytes.NewReader(body)))

	out := Page{
		Metadata: p.metadata(base), Language: language(p.lang), Text: p.text.cut(textLimit),
		NoIndex: p.robots.noIndex, NoFollow: p.robots.noFollow,
	}
	out.Main, out.Headings = p.outline.main(p.text.b), p.outline.headings(p.text.b)
	out.Author, out.JSONLD = p.author(), p.things.json()
	out.Published, out.Modified = p.dates()
	urls := newResolver(base, p.base)
	if strings.TrimSpace(p.canonical) != "" {
		out.Canonical = urls.resolve(p.canonical)
	} else {
		out.Canonical = headerCanonical(header, base)
	}
	if !out.NoFollow {
		out.Links, out.LinksCut = links(p.anchors, urls)
		out.LinksCut = out.LinksCut || p.anchorsCut
		out.Feeds, _ = links(p.feedLinks, urls)
	}
	return out
}

// pageScanner extends scanner to everything in Page.
type pageScanner struct {
	scanner
	text         visibleText
	hidden       bool // the next text belongs to a hidden element
	inBody       bool // the body has started
	lang         string
	htmlSeen     bool
	canonical    string
	hasCanonical bool
	anchors      []Link // with unresolved URLs
	anchorsCut   bool
	open         int // index of the current anchor, or -1
	from         int // start of its text
	outline      outline
	linkedData   bool // the next text is JSON-LD
	things       things
	feedLinks    []Link // with unresolved URLs
}

func (p *pageScanner) scan(z *html.Tokenizer) {
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			p.closeAnchor()
			p.outline.cut(len(p.text.b))
			return
		case html.TextToken:
			if p.linkedData {
				p.things.add(z.Text())
			} else if !p.hidden && p.visible() && p.text.add(z.Text()) {
				p.inBody = true
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			p.startTag(z, kind, tagName(z))
		case html.EndTagToken:
			p.endTag(tagName(z))
		}
	}
}

func (p *pageScanner) startTag(z *html.Tokenizer, kind html.TokenType, name []byte) {
	traits := p.traits(name)
	if p.visible() && traits&inHead == 0 {
		p.inBody = true
	}
	p.hidden, p.linkedData = traits&hides != 0, false
	if p.start(z, kind, name) {
		p.hidden = false
		return
	}
	switch string(name) {
	case "html":
		if attr := readAttributes(z); !p.htmlSeen && p.templates.depth == 0 {
			p.lang, p.htmlSeen = attr.lang, true
		}
	case "link":
		if attr := readAttributes(z); p.svg+p.templates.depth == 0 {
			if !p.inBody && !p.hasCanonical && hasToken(attr.rel, "canonical") {
				p.canonical, p.hasCanonical = attr.href, true
			}
			p.feed(attr)
		}
	case "script":
		if p.svg+p.templates.depth == 0 && kind == html.StartTagToken {
			p.linkedData = strings.EqualFold(strings.TrimSpace(readAttributes(z).kind), "application/ld+json")
		}
	case "time":
		attr := readAttributes(z)
		if attr.given&pubdateBit != 0 && attr.itemprop == "" {
			attr.itemprop = "datePublished"
		}
		if p.svg+p.templates.depth == 0 {
			p.item(attr.itemprop, attr.datetime)
		}
	case "a", "area":
		if !p.templates.inert() {
			p.anchor(string(name) == "area", readAttributes(z))
		}
	case "frame":
		if attr := readAttributes(z); p.visible() && strings.TrimSpace(attr.src) != "" {
			p.frame(attr)
		}
	default:
		if p.opens(traits, name) && kind == html.StartTagToken {
			p.outline.start(z, name, len(p.text.b))
		}
	}
}

func (p *pageScanner) endTag(name []byte) {
	p.hidden, p.linkedData = false, false
	traits := p.traits(name)
	p.end(name)
	switch string(name) {
	case "a":
		if !p.templates.inert() {
			p.closeAnchor()
			p.outline.endLink(len(p.text.b))
		}
	default:
		if p.opens(traits, name) {
			p.outline.finish(name, len(p.text.b))
		}
	}
}

// visible reports whether a browser shows the text at the current place, unless its element hides it.
func (p *pageScanner) visible() bool { return p.svg == 0 && !p.templates.inert() }

// opens reports whether an element belongs to the outline of the page.
func (p *pageScanner) opens(t trait, name []byte) bool {
	return p.visible() && (t&separates != 0 || bytes.IndexByte(name, '-') > 0)
}

// traits returns the traits of an element and ends the current word if the element separates words.
func (p *pageScanner) traits(name []byte) trait {
	t := elements[string(name)]
	if p.opens(t, name) { // custom elements are mostly blocks
		p.text.separate()
	}
	return t
}

// anchor starts a link if attr has an href that a crawler may follow.
func (p *pageScanner) anchor(area bool, attr attributes) {
	if !area {
		p.closeAnchor()
		p.outline.endLink(len(p.text.b))
		if attr.given&hrefBit != 0 && !strings.HasPrefix(attr.href, "#") {
			p.outline.beginLink(len(p.text.b))
		}
	}
	if attr.given&hrefBit == 0 || hasToken(attr.rel, "nofollow") || hasToken(attr.rel, "ugc") || hasToken(attr.rel, "sponsored") {
		return
	}
	if len(p.anchors) == maxAnchors {
		p.anchorsCut = true
		return
	}
	p.anchors = append(p.anchors, Link{URL: attr.href})
	if area {
		p.anchors[len(p.anchors)-1].Text = cleanText(attr.alt, linkTextLimit)
		return
	}
	p.open, p.from = len(p.anchors)-1, len(p.text.b)
}

// frame adds the link of a frame of a frameset. Its text is the title or the name of the frame.
func (p *pageScanner) frame(attr attributes) {
	if len(p.anchors) == maxAnchors {
		p.anchorsCut = true
		return
	}
	p.anchors = append(p.anchors, Link{URL: attr.src, Text: cleanText(cmp.Or(attr.title, attr.name), linkTextLimit)})
}

func (p *pageScanner) closeAnchor() {
	if p.open >= 0 {
		p.anchors[p.open].Text = p.text.since(p.from, linkTextLimit)
		p.open = -1
	}
}

// links resolves anchors and removes duplicates. more reports whether there are more than MaxLinks.
func links(anchors []Link, urls *resolver) (out []Link, more bool) {
	seen := make(map[string]int, min(len(anchors), MaxLinks))
	for _, a := range anchors {
		u := urls.resolve(a.URL)
		if u == "" {
			continue
		}
		if i, ok := seen[u]; ok {
			if out[i].Text == "" {
				out[i].Text = a.Text
			}
			continue
		}
		if len(out) == MaxLinks {
			return out, true
		}
		seen[u] = len(out)
		out = append(out, Link{URL: u, Text: a.Text})
	}
	return out, false
}

// hasToken reports whether a space-separated list such as rel contains word, ignoring case.
func hasToken(list, word string) bool {
	if len(list) < len(word) {
		return false
	}
	for w := range strings.FieldsSeq(list) {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}

// language returns lang if it looks like a language tag.
func language(lang string) string {
	lang = strings.TrimSpace(lang)
	if len(lang) > languageLimit || !isToken(lang) || strings.Contains(lang, "_") {
		return ""
	}
	return lang
}
