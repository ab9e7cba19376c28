package outbound

import (
	"bytes"
	"net/http"
	"strings"

	"golang.org/x/net/html"
)

// Content says what a browser makes of a body.
type Content int

// The kinds of content.
const (
	ContentOther Content = iota // data, scripts, images, downloads: it has no metadata and no text
	ContentHTML                 // a page, also in XHTML
	ContentText                 // text for people: plain, Markdown, CSV and the like
)

// Content returns what the body is by its Content-Type, as in a browser. Without a valid type, the body says it (WHATWG MIME
// Sniffing). A body that looks binary is ContentOther, because the types of downloads are often wrong.
func (r *Response) Content() Content {
	sniffed, _, _ := strings.Cut(http.DetectContentType(r.Body), ";")
	if !strings.HasPrefix(sniffed, "text/") {
		return ContentOther
	}
	media := mediaType(r.Header)
	if media == "" {
		media = sniffed
	}
	switch {
	case media == "text/html", media == "application/xhtml+xml":
		return ContentHTML
	case media == "text/xml", media == "application/xml":
		if isXHTML(r.Body) {
			return ContentHTML
		}
	case strings.HasPrefix(media, "text/") && media != "text/css" && !strings.Contains(media, "script"):
		return ContentText
	}
	return ContentOther
}

// mediaType returns the media type of a response in lower case, without parameters. Of several, the last valid one counts
// (WHATWG Fetch, "extract a MIME type"). "" = none, or one for which a browser sniffs.
func mediaType(header http.Header) (media string) {
	for value := range strings.SplitSeq(strings.Join(header["Content-Type"], ","), ",") {
		value, _, _ = strings.Cut(value, ";")
		value = strings.ToLower(strings.TrimSpace(value))
		if kind, name, ok := strings.Cut(value, "/"); ok && kind != "" && name != "" && value != "*/*" {
			media = value
		}
	}
	switch media {
	case "unknown/unknown", "application/unknown":
		return ""
	}
	return media
}

// isXHTML reports whether the root element of an XML document is <html>.
func isXHTML(body []byte) bool {
	for z := html.NewTokenizer(bytes.NewReader(body)); ; {
		switch z.Next() {
		case html.ErrorToken, html.EndTagToken:
			return false
		case html.StartTagToken, html.SelfClosingTagToken:
			return string(tagName(z)) == "html"
		}
	}
}

// Metadata returns the metadata of a page. Only HTML has a title and OpenGraph data. Only a page with a status of 2xx has a
// Refresh, because another one is an error, wherever its page goes.
func (r *Response) Metadata() Metadata {
	var page []byte
	if r.Content() == ContentHTML {
		page = r.Body
	}
	m := ParseMetadata(page, r.URL, r.Header)
	if r.StatusCode < http.StatusOK || r.StatusCode >= http.StatusMultipleChoices {
		m.Refresh = ""
	}
	return m
}

// ParseText parses a text in UTF-8 that is not HTML, such as text/plain. base, header and agent are those of ParsePage. The
// Page has Text and Main, in which each line that is not empty is a paragraph, and what the header says.
func ParseText(body []byte, base string, header http.Header, agent string) Page {
	var rules directives
	rules.addHeader(header, agent)
	var to refresh
	to.add(header.Get("Refresh"), "")

	var all, line visibleText
	var lines []byte
	for part := range bytes.FieldsFuncSeq(body, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line.b, line.space = line.b[:0], false
		if line.add(part); len(line.b) == 0 {
			continue
		}
		if all.separate(); len(lines) > 0 {
			lines = append(lines, '\n')
		}
		all.add(line.b)
		if lines = append(lines, line.b...); len(lines) > textLimit {
			lines = trimPartial(lines[:textLimit])
			break
		}
	}
	return Page{
		Metadata: Metadata{Refresh: to.destination(base)}, Canonical: headerCanonical(header, base),
		NoIndex: rules.noIndex, NoFollow: rules.noFollow,
		Text: all.cut(textLimit), Main: string(bytes.TrimRight(lines, " \n")),
	}
}
