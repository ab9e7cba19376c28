package outbound

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

const (
	feedDepth = 100          // nested elements
	feedText  = 3 * urlLimit // bytes of a title or URL
	feedJunk  = 64           // tags before the XML declaration
)

var (
	// feedFields are elements that contain none of each other and no entry.
	feedFields = []string{"title", "link", "id", "guid", "description", "pubdate", "updated"}
	// atomPrefixes are the usual prefixes of Atom elements in RSS.
	atomPrefixes = []string{"atom", "atom10", "a10"}
	// escapedHTML matches text that is HTML although its format does not say so.
	escapedHTML = regexp.MustCompile(`(?i)&(#x?[0-9a-f]+|[a-z][a-z0-9]*);|</[a-z]|<br[\s/>]`)
)

// xmlFeed reads an RSS or Atom feed. An element ends with its end tag, the end tag of an element around it, or the
// start of an entry or field that cannot be inside it. End tags without a start tag are ignored. Namespaces count only
// by their prefixes, because their declarations are often wrong or missing.
type xmlFeed struct {
	*readFeed
	x     *XMLTokens
	open  []xmlElement
	entry string // name of the entries: item or entry; "" before the root element
	own   string // prefix of the entries and of their fields
	junk  int    // tags before the XML declaration

	started int      // entries
	at      int      // depth of the open entry; 0 = none
	link    feedLink // of the open entry
	id      string   // of the open entry

	field   string // name of the open field
	fieldAt int    // its depth; 0 = none
	kind    string // its type
	text    []byte
	tooLong bool // text is only its start
}

type xmlElement struct {
	prefix, local string // in lower case
	base          string // its xml:base; "" = none
}

// xml reads a feed up to the end of its root element, or to the first entry after FeedEntries. Errors are ErrNotFeed,
// ErrFeedParts, and io.EOF if the feed ends early.
func (f *readFeed) xml(body []byte) error {
	r := &xmlFeed{readFeed: f, x: NewXMLTokens(&withoutControls{bytes.NewReader(body)})}
	for {
		var err error
		switch kind := r.x.Next(); kind {
		case html.ErrorToken:
			if !r.x.Skip() {
				return r.failed()
			}
		case html.DoctypeToken:
			if r.x.IsHTML() {
				return ErrNotFeed
			}
		case html.CommentToken:
			if raw := r.x.Raw(); bytes.HasPrefix(raw, []byte("<?xml")) && !bytes.HasPrefix(raw, []byte("<?xml-")) {
				r.junk = 0
			}
		case html.TextToken:
			r.addText()
		case html.StartTagToken, html.SelfClosingTagToken:
			err = r.start(kind == html.SelfClosingTagToken)
		case html.EndTagToken:
			r.end()
		}
		if err != nil || r.more || r.entry != "" && len(r.open) == 0 {
			return err
		}
	}
}

// failed returns why there are no more tokens.
func (f *xmlFeed) failed() error {
	switch err := f.x.Err(); {
	case f.entry == "":
		return ErrNotFeed
	case errors.Is(err, io.EOF):
		return err
	}
	return ErrFeedParts
}

func (f *xmlFeed) start(empty bool) error {
	prefix, local := SplitXMLName(bytes.ToLower(f.x.Name()))
	e := xmlElement{prefix: string(prefix), local: string(local)}
	if bytes.Contains(f.x.Raw(), []byte("xml:base")) {
		e.base = f.x.Attribute("xml:base")
	}
	if f.entry == "" {
		if err := f.root(e); err != nil || f.entry == "" {
			return err
		}
	} else {
		f.closeBefore(e)
	}
	f.open = append(f.open, e)
	switch depth := len(f.open); {
	case depth > feedDepth:
		return ErrFeedParts
	case f.at == 0 && f.isEntry(e):
		if f.started == FeedEntries {
			f.more = true
			return nil
		}
		f.started++
		f.at, f.link, f.id = depth, feedLink{}, ""
	case depth == 2 && e.local == "channel":
		f.own = e.prefix
	case f.at > 0 && depth == f.at+1, f.at == 0 && depth > 1 && f.isHead(f.open[depth-2]):
		empty = f.openField(e) || empty
	}
	if empty {
		f.pop()
	}
	return nil
}

// root determines the format from the root element. Before the XML declaration, other tags may come from the error
// message of a program.
func (f *xmlFeed) root(e xmlElement) error {
	switch e.local {
	case "rss", "rdf":
		f.entry = "item"
	case "feed":
		f.entry, f.own = "entry", e.prefix
	case "html", "head", "body":
		return ErrNotFeed
	default:
		f.junk++
	}
	if f.junk > feedJunk || f.junk > 0 && f.entry != "" {
		return ErrNotFeed
	}
	return nil
}

func (f *xmlFeed) isEntry(e xmlElement) bool { return e.local == f.entry && e.prefix == f.own }

// isHead reports whether an element contains the title and the links of the feed.
func (f *xmlFeed) isHead(e xmlElement) bool {
	return e.local == "channel" || e.local == "feed" && f.entry == "entry"
}

// closeBefore closes elements without an end tag that cannot contain e.
func (f *xmlFeed) closeBefore(e xmlElement) {
	top := f.open[len(f.open)-1]
	if e.prefix == f.own && top.prefix == f.own && slices.Contains(feedFields, top.local) &&
		(e.local == f.entry || slices.Contains(feedFields, e.local)) {
		f.pop()
	}
	if !f.isEntry(e) {
		return
	}
	if f.at == len(f.open) {
		f.pop()
	}
	for f.at == 0 && len(f.open) > 1 && !f.isHead(f.open[len(f.open)-1]) {
		f.pop()
	}
}

// end closes the innermost element of the name, and the elements in it.
func (f *xmlFeed) end() {
	prefix, local := SplitXMLName(bytes.ToLower(f.x.Name()))
	for i, e := range slices.Backward(f.open) {
		if e.local == string(local) && e.prefix == string(prefix) {
			for len(f.open) > i {
				f.pop()
			}
			return
		}
	}
}

// pop closes the innermost element.
func (f *xmlFeed) pop() {
	switch len(f.open) {
	case f.fieldAt:
		f.closeField()
	case f.at:
		f.add(f.link, f.id)
		f.at = 0
	}
	f.open = f.open[:len(f.open)-1]
}

// openField opens a child of the feed or of an entry. It reports whether the child has no content that counts.
func (f *xmlFeed) openField(e xmlElement) (empty bool) {
	own, wanted := e.prefix == f.own, false
	switch e.local {
	case "link":
		href := f.x.Attribute("href")
		if own || slices.Contains(atomPrefixes, e.prefix) {
			f.take(href, LinkRank(f.x.Attribute("rel"), f.x.Attribute("type")))
		}
		if href != "" && (f.entry == "entry" || !own) {
			return true // also if an unquoted URL hides that the tag is empty
		}
		wanted = own
	case "title":
		wanted = own && f.at == 0
	case "id", "guid":
		wanted = own && f.at > 0
	}
	if wanted {
		f.field, f.fieldAt, f.kind, f.text, f.tooLong = e.local, len(f.open), f.x.Attribute("type"), f.text[:0], false
	}
	return false
}

// take takes a link of the open entry, or of the feed, if it is better.
func (f *xmlFeed) take(link string, rank int) {
	to := &f.page
	if f.at > 0 {
		to = &f.link
	}
	if rank > to.rank {
		to.take(f.based(link), rank)
	}
}

// based resolves a link if xml:base is in scope.
func (f *xmlFeed) based(link string) string {
	if link = cleanURL(link); link == "" {
		return ""
	}
	urls := &resolver{}
	for _, e := range f.open {
		if e.base == "" {
			continue
		}
		if urls.from == "" {
			urls = newResolver(f.url, "")
		}
		if based := urls.at(e.base); based.from != "" {
			urls = based
		}
	}
	if urls.from == "" {
		return link
	}
	return urls.resolve(link)
}

// addText adds a text to the open field. Titles may contain elements.
func (f *xmlFeed) addText() {
	if f.fieldAt == 0 || f.fieldAt != len(f.open) && f.field != "title" {
		return
	}
	raw, room := f.x.Raw(), max(0, feedText-len(f.text))
	if len(raw) > room {
		raw = bytes.TrimSpace(raw)
	}
	if len(raw) > room {
		raw, f.tooLong = raw[:room], true
	}
	f.text, _ = AppendXMLText(f.text, raw)
}

func (f *xmlFeed) closeField() {
	switch text := string(f.text); f.field {
	case "title":
		if f.title == "" {
			f.title = f.plain(text)
		}
	case "link":
		if !f.tooLong {
			f.take(text, ownLink)
		}
	default:
		if f.id == "" && !f.tooLong {
			f.id = cleanURL(text)
		}
	}
	f.fieldAt = 0
}

// plain returns the plain text of a title. In Atom its type says whether it is HTML (RFC 4287, 3.1.1). RSS does not say
// it; like most feed readers, Linkwatch assumes HTML if there are entities or end tags.
func (f *xmlFeed) plain(title string) string {
	isHTML := escapedHTML.MatchString(title)
	if f.entry == "entry" {
		isHTML = strings.EqualFold(f.kind, "html") || strings.EqualFold(f.kind, "text/html")
	}
	if !isHTML {
		return title
	}
	var text strings.Builder
	hidden := false
	for z := html.NewTokenizer(strings.NewReader(title)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return text.String()
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			hidden = string(name) == "script" || string(name) == "style"
			if string(name) == "br" || string(name) == "p" {
				text.WriteByte(' ')
			}
		case html.EndTagToken:
			hidden = false
		case html.TextToken:
			if !hidden {
				text.Write(z.Text())
			}
		}
	}
}

// withoutControls removes the control characters that XML does not allow.
type withoutControls struct{ r io.Reader }

// Read implements io.Reader.
func (c *withoutControls) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil && len(p) > 0 {
		n, err = c.r.Read(p)
		kept := p[:0]
		for _, b := range p[:n] {
			if b >= ' ' || b == '\t' || b == '\n' || b == '\r' {
				kept = append(kept, b)
			}
		}
		n = len(kept)
	}
	return n, err
}
