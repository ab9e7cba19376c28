package outbound

import (
	"bytes"
	"cmp"
	"net/http"
	"net/url"

	"golang.org/x/net/html"
)

// Limits of a page's metadata in runes; of the image URL in bytes (a longer URL is dropped).
const (
	titleLimit       = 500
	descriptionLimit = 1000
	siteNameLimit    = 200
	typeLimit        = 100
	imageLimit       = 2048
)

// Metadata is the title and OpenGraph data of a page. Every string is plain text of limited length, which must be escaped
// in HTML.
type Metadata struct {
	Title       string
	TitleSource string // "opengraph", "twitter", "title", or "" without a title
	Description string // <meta name=description>, else that of OpenGraph; at most 1000 runes
	OG          OpenGraph
	// Refresh is the URL to which a browser goes from the page within 10 seconds: absolute, http or https, without fragment.
	// It is that of the Refresh header, else of <meta http-equiv=refresh>. "" = none, or the page itself.
	Refresh string
	// Shown reports whether a browser shows the page for a second or more before Refresh. Such pages may form a circle, as in
	// a slideshow.
	Shown bool
}

// OpenGraph is the supported part of a page's OpenGraph data. Missing values are empty.
type OpenGraph struct {
	Title       string // at most 500 runes
	Description string // at most 1000 runes
	Image       string // an absolute http or https URL of at most 2048 bytes, on a public host; names are not resolved
	SiteName    string // at most 200 runes
	Type        string // at most 100 runes
}

// ParseMetadata parses the metadata of an HTML page in UTF-8. header is that of the response. A relative image URL is resolved
// against the page's <base>, else against base, the page's URL. The title is that of OpenGraph, else of the Twitter card, else
// <title>. The first value that is not empty counts. The content of <template> has none. A page without metadata gives the
// zero Metadata.
func ParseMetadata(body []byte, base string, header http.Header) Metadata {
	s := scanner{values: map[string]string{}}
	s.refresh.add(header.Get("Refresh"), "")
	s.scan(html.NewTokenizer(bytes.NewReader(body)))
	return s.metadata(base)
}

// metadata returns the metadata found so far of a page with the URL base.
func (s *scanner) metadata(base string) Metadata {
	m := Metadata{Refresh: s.refresh.destination(base)}
	m.Shown = m.Refresh != "" && s.refresh.shown
	m.OG.Title = cleanText(s.values["og:title"], titleLimit)
	m.OG.Description = cleanText(s.values["og:description"], descriptionLimit)
	m.Description = cmp.Or(cleanText(s.values["description"], descriptionLimit), m.OG.Description)
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

// imageURL resolves src against the page's <base>, which is relative to the page. It returns "" unless the URL is http or
// https and has a public host, because the browser of a user requests the image.
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
