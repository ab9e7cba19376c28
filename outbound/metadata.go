package outbound

import (
	"bytes"
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// Limits of what is kept of a page's metadata: runes, for the image URL bytes (a longer one is dropped).
const (
	titleLimit       = 500
	descriptionLimit = 1000
	siteNameLimit    = 200
	typeLimit        = 100
	imageLimit       = 2048
)

// Metadata is what a page says about itself. Every string is clean, bounded text without markup meaning: escape it as
// any other text when it is shown.
type Metadata struct {
	Title       string
	TitleSource string // "opengraph", "twitter", "title", or "" when there is none
	OG          OpenGraph
}

// OpenGraph is the part of a page's OpenGraph data that is kept. What the page does not say is empty.
type OpenGraph struct {
	Title       string // at most 500 runes
	Description string // at most 1000 runes
	Image       string // an absolute http or https URL of at most 2048 bytes, on a public host; names are not resolved
	SiteName    string // at most 200 runes
	Type        string // at most 100 runes
}

// ParseMetadata reads the metadata of an HTML page in UTF-8. base is the page's URL, which a relative image is resolved
// against unless the page has a <base>. The title is OpenGraph's, else the Twitter card's, else <title>.
// The first value that is not empty counts. It reads tag by tag and never fails: a page that says nothing gives the
// zero Metadata.
func ParseMetadata(body []byte, base string) Metadata {
	s := scanner{values: map[string]string{}}
	s.scan(html.NewTokenizer(bytes.NewReader(body)))

	var m Metadata
	m.OG.Title = cleanText(s.values["og:title"], titleLimit)
	m.OG.Description = cleanText(s.values["og:description"], descriptionLimit)
	m.OG.SiteName = cleanText(s.values["og:site_name"], siteNameLimit)
	m.OG.Type = cleanText(s.values["og:type"], typeLimit)
	for _, name := range []string{"og:image", "og:image:url", "og:image:secure_url"} {
		if m.OG.Image == "" {
			m.OG.Image = imageURL(s.values[name], s.base, base)
		}
	}
	for _, t := range []struct{ source, text string }{
		{"opengraph", m.OG.Title},
		{"twitter", cleanText(s.values["twitter:title"], titleLimit)},
		{"title", cleanText(s.title, titleLimit)},
	} {
		if m.Title == "" && t.text != "" {
			m.Title, m.TitleSource = t.text, t.source
		}
	}
	return m
}

// wanted are the meta names that are read.
var wanted = map[string]bool{
	"og:title": true, "og:description": true, "og:image": true, "og:image:url": true, "og:image:secure_url": true,
	"og:site_name": true, "og:type": true, "twitter:title": true,
}

// scanner collects the raw values of a page.
type scanner struct {
	values map[string]string
	title  string
	base   string // the first <base href>
	drawn  int    // how deep in svg or math, whose <title> is not the page's
}

func (s *scanner) scan(z *html.Tokenizer) {
	for {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			name, hasAttr := z.TagName()
			switch string(name) {
			case "meta":
				s.meta(z, hasAttr)
			case "base":
				if href := attributes(z, hasAttr)["href"]; s.base == "" {
					s.base = href
				}
			case "title":
				if s.drawn > 0 {
					z.NextIsNotRawText()
				} else if s.title == "" && kind == html.StartTagToken && z.Next() == html.TextToken {
					s.title = string(bytes.TrimSpace(z.Text()))
				}
			case "svg", "math":
				if kind == html.StartTagToken {
					s.drawn++
				}
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); s.drawn > 0 && (string(name) == "svg" || string(name) == "math") {
				s.drawn--
			}
		}
	}
}

// meta keeps the content of a <meta> whose property or name is wanted. Both are written in any case by someone. A
// property that lists several (RDFa) is not taken apart: the pages that we are measured by want it so (fixtures_test.go).
func (s *scanner) meta(z *html.Tokenizer, hasAttr bool) {
	attr := attributes(z, hasAttr)
	if strings.TrimSpace(attr["content"]) == "" {
		return
	}
	for _, name := range []string{attr["property"], attr["name"]} {
		if name = strings.ToLower(strings.TrimSpace(name)); wanted[name] && s.values[name] == "" {
			s.values[name] = attr["content"]
		}
	}
}

// attributes returns those of the current tag that matter; of a repeated one the first counts, as in a browser.
func attributes(z *html.Tokenizer, more bool) map[string]string {
	attr := make(map[string]string, 3)
	for more {
		var key, val []byte
		key, val, more = z.TagAttr()
		switch name := string(key); name {
		case "property", "name", "content", "href", "charset", "http-equiv":
			if _, repeated := attr[name]; !repeated {
				attr[name] = string(val)
			}
		}
	}
	return attr
}

// imageURL resolves src against the page's <base>, which is itself relative to the page, and returns "" for what is
// not a web address or has no public host: the browser of a reader requests the image.
func imageURL(src, pageBase, page string) string {
	if src = cleanURL(src); src == "" || len(src) > imageLimit {
		return ""
	}
	from, err := url.Parse(page)
	if err != nil {
		from = &url.URL{}
	}
	if b, err := from.Parse(cleanURL(pageBase)); err == nil && (b.Scheme == "http" || b.Scheme == "https") {
		from = b
	}
	u, err := from.Parse(src)
	if err != nil || !validURL(u) || !publicHost(u.String()) {
		return ""
	}
	return u.String()
}
