package sitemap

import (
	"bytes"
	"errors"
	"io"

	"golang.org/x/net/html"

	"linkwatch/models"
	"linkwatch/models/sites"
	"linkwatch/outbound"
)

const (
	maxDepth = 256 // nested elements
	maxText  = 3 * models.MaxURL
)

type field int

const (
	noField field = iota
	address
	permalink // RSS: URL of an entry without a link
	date
)

// xmlReader reads XML that need not be well-formed, except that it checks the nesting of elements.
type xmlReader struct {
	c *collector
	x *outbound.XMLTokens

	names []byte // of the open elements, concatenated
	ends  []int  // end of each name in names

	item      string // element name of an entry
	itemDepth int    // maximum depth of an entry
	foreign   string // element name of an entry in the other kind of sitemap

	entry   int    // depth of the open entry; 0 = none
	prefix  []byte // namespace prefix of the entry
	field   field
	text    []byte // text of the open field
	tooLong bool   // text was truncated
	unknown bool   // text had an unknown entity

	url     []byte
	rank    int    // of the link in url
	problem string // with url
	guid    []byte
	lastmod models.Time
	badDate bool
}

func newXMLReader(c *collector, r io.Reader) *xmlReader {
	return &xmlReader{c: c, x: outbound.NewXMLTokens(r)}
}

// read reads up to the end of the root element.
func (m *xmlReader) read() error {
	for {
		var err error
		switch m.x.Next() {
		case html.ErrorToken:
			return m.endError(m.x.Err())
		case html.DoctypeToken:
			if m.x.IsHTML() {
				return errHTML
			}
		case html.StartTagToken:
			err = m.start()
		case html.SelfClosingTagToken:
			if err = m.start(); err == nil {
				err = m.end()
			}
		case html.EndTagToken:
			err = m.end()
		case html.TextToken:
			m.characters(m.x.Raw())
		}
		if err != nil || m.c.Kind != sites.KindUnread && len(m.ends) == 0 {
			return err
		}
	}
}

var (
	errHTML       = &Error{"This is an HTML page, not a sitemap"}
	errNotSitemap = &Error{"This XML file is neither a sitemap nor a feed"}
)

func (m *xmlReader) endError(err error) error {
	switch {
	case errors.Is(err, io.EOF) && m.c.Kind == sites.KindUnread:
		return errNotSitemap
	case errors.Is(err, io.EOF):
		return m.broken("unexpected end of file")
	case errors.Is(err, outbound.ErrXMLToken):
		return m.broken("a tag or text is too long")
	case errors.Is(err, outbound.ErrXMLAttributes):
		return m.broken("a tag has too many attributes")
	}
	return err
}

func (m *xmlReader) broken(why string) error {
	return m.c.partialError("The XML is broken after %s: %s", why)
}

func (m *xmlReader) start() error {
	name := m.x.Name()
	m.names = append(m.names, name...)
	m.ends = append(m.ends, len(m.names))
	depth := len(m.ends)
	prefix, local := outbound.SplitXMLName(name)
	switch {
	case depth == 1:
		return m.root(string(local))
	case depth > maxDepth:
		return m.broken("elements are nested too deeply")
	case m.entry == 0 && depth <= m.itemDepth && string(local) == m.item:
		m.entry, m.prefix = depth, append(m.prefix[:0], prefix...)
		m.url, m.rank, m.problem, m.guid, m.lastmod, m.badDate = m.url[:0], 0, "", m.guid[:0], models.Time{}, false
		m.c.entryNumber++
	case m.entry == 0 && depth == 2 && string(local) == m.foreign:
		m.c.entryNumber++
		m.c.skip("<" + m.foreign + "> is not allowed in this kind of sitemap")
	case m.entry > 0 && depth == m.entry+1:
		m.open(prefix, local)
	}
	return nil
}

// root determines the kind of the file by its root element.
func (m *xmlReader) root(name string) error {
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
		return errNotSitemap
	}
	return nil
}

// open opens a field of the entry. Namespaces are often wrong or missing, so only the prefix is compared with that of the entry:
// <image:loc> in <url> is ignored.
func (m *xmlReader) open(prefix, local []byte) {
	own := bytes.Equal(prefix, m.prefix)
	m.field, m.text, m.tooLong, m.unknown = noField, m.text[:0], false, false
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
		if own && m.x.Attribute("ispermalink") != "false" {
			m.field = permalink
		}
	case "pubDate", "published", "updated", "modified", "date":
		switch string(prefix) {
		case string(m.prefix), "atom", "a10", "dc", "dcterms":
			m.field = date
		}
	}
}

// link reads <link>. In RSS the URL is its text, in Atom the href attribute of the best link.
func (m *xmlReader) link() {
	href, rank := m.x.Attribute("href"), outbound.LinkRank(m.x.Attribute("rel"), m.x.Attribute("type"))
	switch {
	case rank == 0:
	case href == "":
		m.field = address
	case len(m.url) == 0 || rank > m.rank && m.rank > 0:
		m.url, m.rank = append(m.url[:0], bytes.TrimSpace([]byte(href))...), rank
	}
}

// characters appends to the open field.
func (m *xmlReader) characters(raw []byte) {
	if m.field == noField || len(m.ends) != m.entry+1 {
		return
	}
	if len(m.text)+len(raw) > maxText { // it may be mostly white space
		if raw = bytes.TrimSpace(raw); len(m.text)+len(raw) > maxText {
			m.tooLong = true
			return
		}
	}
	text, defined := outbound.AppendXMLText(m.text, raw)
	m.text, m.unknown = text, m.unknown || !defined
}

func (m *xmlReader) end() error {
	depth := len(m.ends)
	if depth == 0 {
		return errNotSitemap
	}
	begin := 0
	if depth > 1 {
		begin = m.ends[depth-2]
	}
	if !bytes.Equal(m.names[begin:], m.x.Name()) {
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

func (m *xmlReader) close() {
	text := bytes.TrimSpace(m.text)
	switch m.field {
	case address:
		if len(m.url) > 0 || m.problem != "" || len(text) == 0 && !m.tooLong && !m.unknown {
			break
		}
		if m.url = append(m.url, text...); m.tooLong {
			m.problem = urlTooLong
		} else if m.unknown {
			m.problem = "the URL has an entity that XML does not define"
		}
	case permalink:
		if !m.tooLong && !m.unknown && len(m.guid) == 0 {
			m.guid = append(m.guid, text...)
		}
	case date: // feeds have several dates; the latest counts
		if len(text) == 0 && !m.tooLong {
			break
		}
		t, ok := parseDate(string(text))
		if m.badDate = m.badDate || !ok || m.tooLong; ok && t.After(m.lastmod.Time) {
			m.lastmod = t
		}
	}
	m.field = noField
}

func (m *xmlReader) add() error {
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
