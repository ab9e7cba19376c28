package sitemap

import (
	"bytes"
	"errors"
	"io"

	"golang.org/x/net/html"

	"linkwatch/models"
	"linkwatch/models/sites"
)

const (
	maxToken      = 1 << 20 // bytes of a tag, a comment, or text between two tags
	maxDepth      = 256     // elements inside each other
	maxAttributes = 256     // of a tag
	maxText       = 3 * models.MaxURL
)

// field is an element of an entry that is read.
type field int

const (
	noField field = iota
	address
	permalink // RSS: the address of an entry without a link
	date
)

// markup reads XML with the tokenizer of HTML, whose input may be endless at any place: it holds one token of a limited size.
// encoding/xml does not limit tokens, and is four times slower. The tokenizer checks no nesting, so that is done here. It
// knows no DOCTYPE beyond its first >, so entities are never defined; nothing before the root element counts.
type markup struct {
	c *collector
	z *html.Tokenizer

	names []byte // of the open elements, one after the other
	ends  []int  // where each ends in names

	item      string // the name of the element that is an entry
	itemDepth int    // at most
	foreign   string // the element that is an entry of the other kind of sitemap

	entry   int    // the depth of the open entry; 0 = none
	prefix  []byte // of its name
	field   field
	text    []byte // of the open field
	long    bool   // text was cut
	unknown bool   // text had an unknown entity

	url     []byte
	problem string // with url
	guid    []byte
	lastmod models.Time
	badDate bool
}

func newMarkup(c *collector, r io.Reader) *markup {
	m := &markup{c: c, z: html.NewTokenizer(r)}
	m.z.SetMaxBuf(maxToken)
	m.z.AllowCDATA(true)
	return m
}

// read reads until the end of the root element.
func (m *markup) read() error {
	for {
		var err error
		switch m.z.Next() {
		case html.ErrorToken:
			return m.failed(m.z.Err())
		case html.DoctypeToken:
			if kind := bytes.TrimSpace(m.z.Text()); len(kind) >= 4 && bytes.EqualFold(kind[:4], []byte("html")) {
				return errHTML
			}
		case html.StartTagToken:
			m.z.NextIsNotRawText() // or a <title/> would hide what follows
			err = m.start()
		case html.SelfClosingTagToken:
			m.z.NextIsNotRawText()
			if err = m.start(); err == nil {
				err = m.end()
			}
		case html.EndTagToken:
			err = m.end()
		case html.TextToken:
			m.characters(m.z.Raw())
		}
		if err != nil || m.c.Kind != sites.KindUnread && len(m.ends) == 0 {
			return err
		}
	}
}

var (
	errHTML  = &Error{"This is an HTML page, not a sitemap"}
	errOther = &Error{"This XML file is neither a sitemap nor a feed"}
)

// failed is what the end of the tokens means.
func (m *markup) failed(err error) error {
	switch {
	case errors.Is(err, io.EOF) && m.c.Kind == sites.KindUnread:
		return errOther
	case errors.Is(err, io.EOF):
		return m.broken("it ends too early")
	case errors.Is(err, html.ErrBufferExceeded):
		return m.broken("a tag or text is too long")
	}
	return err
}

func (m *markup) broken(why string) error {
	return m.c.brokenOff("The XML is broken after %s: %s", why)
}

// start opens the element whose tag was read.
func (m *markup) start() error {
	raw := m.z.Raw()
	// The tokenizer clears its table of attributes for each tag, which is slow for ever if a tag has had very many.
	if len(raw) > 2*maxAttributes && m.attributes() > maxAttributes {
		return m.broken("a tag has too many attributes")
	}
	name := tagName(raw)
	m.names = append(m.names, name...)
	m.ends = append(m.ends, len(m.names))
	depth := len(m.ends)
	prefix, local := split(name)
	switch {
	case depth == 1:
		return m.root(string(local))
	case depth > maxDepth:
		return m.broken("its elements are nested too deeply")
	case m.entry == 0 && depth <= m.itemDepth && string(local) == m.item:
		m.entry, m.prefix = depth, append(m.prefix[:0], prefix...)
		m.url, m.problem, m.guid, m.lastmod, m.badDate = m.url[:0], "", m.guid[:0], models.Time{}, false
		m.c.no++
	case m.entry == 0 && depth == 2 && string(local) == m.foreign:
		m.c.no++
		m.c.skip("<" + m.foreign + "> does not belong into this kind of sitemap")
	case m.entry > 0 && depth == m.entry+1:
		m.open(prefix, local)
	}
	return nil
}

// root tells by the first element what the file is.
func (m *markup) root(name string) error {
	switch name {
	case "urlset":
		m.c.Kind, m.item, m.itemDepth, m.foreign = sites.KindSitemap, "url", 2, "sitemap"
	case "sitemapindex":
		m.c.Kind, m.item, m.itemDepth, m.foreign = sites.KindIndex, "sitemap", 2, "url"
	case "rss", "RDF":
		m.c.Kind, m.item, m.itemDepth = sites.KindFeed, "item", 3
	case "feed":
		m.c.Kind, m.item, m.itemDepth = sites.KindFeed, "entry", 2
	case "html", "HTML", "head", "body":
		return errHTML
	default:
		return errOther
	}
	return nil
}

// open begins a field of the entry. Namespaces are often wrong or missing, so an element counts if it has the prefix of its
// entry: <image:loc> in <url> does not.
func (m *markup) open(prefix, local []byte) {
	own := bytes.Equal(prefix, m.prefix)
	m.field, m.text, m.long, m.unknown = noField, m.text[:0], false, false
	if m.c.Kind != sites.KindFeed {
		if own && string(local) == "loc" {
			m.field = address
		} else if own && string(local) == "lastmod" {
			m.field = date
		}
		return
	}
	switch string(local) {
	case "link":
		if own {
			m.link()
		}
	case "guid":
		if own && m.attribute("ispermalink") != "false" {
			m.field = permalink
		}
	case "pubDate", "published", "updated", "modified", "date":
		switch string(prefix) {
		case string(m.prefix), "atom", "a10", "dc", "dcterms":
			m.field = date
		}
	}
}

// link reads <link>: the page of an entry is its text in RSS, and in Atom the attribute of the first one that leads there.
func (m *markup) link() {
	var href, rel string
	for more := true; more; {
		var key, value []byte
		key, value, more = m.z.TagAttr()
		switch string(key) {
		case "href":
			href = string(value)
		case "rel":
			rel = string(value)
		}
	}
	switch {
	case rel != "" && rel != "alternate":
	case href == "":
		m.field = address
	case len(m.url) == 0:
		m.url = append(m.url, bytes.TrimSpace([]byte(href))...)
	}
}

// attribute is an attribute of the tag that was read. name is in lower case.
func (m *markup) attribute(name string) string {
	for {
		key, value, more := m.z.TagAttr()
		if string(key) == name {
			return string(value)
		}
		if !more {
			return ""
		}
	}
}

// attributes counts those of the tag that was read, which cannot be asked for after that.
func (m *markup) attributes() int {
	for n := 0; ; n++ {
		if key, _, _ := m.z.TagAttr(); key == nil {
			return n
		}
	}
}

var (
	cdata    = []byte("<![CDATA[")
	cdataEnd = []byte("]]>")
)

// characters adds to the open field.
func (m *markup) characters(raw []byte) {
	if m.field == noField || len(m.ends) != m.entry+1 {
		return
	}
	if len(m.text)+len(raw) > maxText { // most of it may be white space
		if raw = bytes.TrimSpace(raw); len(m.text)+len(raw) > maxText {
			m.long = true
			return
		}
	}
	if text, found := bytes.CutPrefix(raw, cdata); found {
		m.text = append(m.text, bytes.TrimSuffix(text, cdataEnd)...)
		return
	}
	text, ok := unescape(m.text, raw)
	m.text, m.unknown = text, m.unknown || !ok
}

// end closes the element whose tag was read.
func (m *markup) end() error {
	depth := len(m.ends)
	if depth == 0 {
		return errOther
	}
	begin := 0
	if depth > 1 {
		begin = m.ends[depth-2]
	}
	if !bytes.Equal(m.names[begin:], tagName(m.z.Raw())) {
		return m.broken("an element is not closed")
	}
	m.names, m.ends = m.names[:begin], m.ends[:depth-1]
	switch {
	case m.entry == 0:
	case depth == m.entry+1:
		m.close()
	case depth == m.entry:
		m.entry = 0
		return m.add()
	}
	return nil
}

// close ends the open field.
func (m *markup) close() {
	text := bytes.TrimSpace(m.text)
	switch m.field {
	case address:
		if len(m.url) > 0 || m.problem != "" || len(text) == 0 && !m.long && !m.unknown {
			break
		}
		if m.url = append(m.url, text...); m.long {
			m.problem = tooLong
		} else if m.unknown {
			m.problem = "the URL has an entity that XML does not define"
		}
	case permalink:
		if !m.long && !m.unknown && len(m.guid) == 0 {
			m.guid = append(m.guid, text...)
		}
	case date: // of the several that feeds have, the last change counts
		if len(text) == 0 && !m.long {
			break
		}
		t, ok := parseDate(string(text))
		if m.badDate = m.badDate || !ok || m.long; ok && t.After(m.lastmod.Time) {
			m.lastmod = t
		}
	}
	m.field = noField
}

// add hands over the entry that was closed.
func (m *markup) add() error {
	if len(m.url) == 0 && m.problem == "" {
		m.url = append(m.url, m.guid...)
	}
	if m.problem != "" {
		m.c.skip(m.problem)
		return nil
	}
	before := m.c.Entries
	if err := m.c.add(m.url, m.lastmod); err != nil {
		return err
	}
	if m.c.Entries > before && m.badDate && m.lastmod.IsZero() {
		m.c.note("lastmod is not a valid date; the URL was kept without it")
	}
	return nil
}

// tagName is the name in a tag, with its prefix.
func tagName(raw []byte) []byte {
	raw = raw[1:]
	if raw[0] == '/' {
		raw = raw[1:]
	}
	for i, c := range raw {
		if c <= ' ' || c == '>' || c == '/' {
			return raw[:i]
		}
	}
	return raw
}

// split returns the two parts of a name.
func split(name []byte) (prefix, local []byte) {
	if i := bytes.IndexByte(name, ':'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return nil, name
}
