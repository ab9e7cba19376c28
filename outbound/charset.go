package outbound

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/transform"
)

var (
	bom            = []byte("\uFEFF")
	charsetParam   = regexp.MustCompile(`(?i)charset\s*=\s*["']?([^\s"';]+)`)
	xmlDeclaration = regexp.MustCompile(`^\s*<\?xml\s[^>]{0,200}?\bencoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']`)
)

// metaScanLimit is the number of bytes that are searched for a <meta charset>. Browsers prescan 1024 bytes, but also apply a
// later one (WHATWG HTML, "changing the encoding while parsing").
const metaScanLimit = 64 << 10

// toUTF8 converts a text body to valid UTF-8 of at most limit bytes and removes its byte order mark. Other content is
// returned unchanged. The charset is that of the byte order mark, else of the header, else of the page (WHATWG HTML,
// 13.2.3). looksUTF8 is the exception. If none is given, it is UTF-8 if the body is valid UTF-8, else windows-1252. cutShort
// says that the body may end inside a character. cut reports whether the result was shortened, because conversion may double
// a body.
func toUTF8(raw []byte, contentType string, cutShort bool, limit int64) (out []byte, cut bool) {
	kind, isText := textKind(raw, contentType)
	if !isText {
		return raw, false
	}
	enc := pickEncoding(raw, contentType, kind, cutShort)
	if enc == nil {
		out = raw
	} else {
		// Space for a body that doubles avoids repeated copies.
		most := limit + utf8.UTFMax
		text := bytes.NewBuffer(make([]byte, 0, min(2*int64(len(raw)), most)+bytes.MinRead))
		// The decoders of x/text replace invalid input, so reading from memory does not fail.
		_, _ = text.ReadFrom(io.LimitReader(transform.NewReader(bytes.NewReader(raw), enc.NewDecoder()), most))
		out = text.Bytes()
	}
	out = bytes.TrimPrefix(out, bom)
	if cutShort {
		out = trimPartial(out)
		out = bytes.TrimSuffix(out, []byte("\uFFFD"))
	}
	if !utf8.Valid(out) {
		out = bytes.ToValidUTF8(out, []byte("\uFFFD"))
	}
	if kind == kindXML {
		out = declareUTF8(out)
	}
	if int64(len(out)) > limit {
		out, cut = trimPartial(out[:limit]), true
	}
	return out, cut
}

type textType int

const (
	kindPlain textType = iota
	kindHTML
	kindXML
	kindJSON
)

// textKind returns the kind of a text body, or false if it is not text. Without a valid Content-Type it sniffs the first
// bytes, and text counts as HTML.
func textKind(raw []byte, contentType string) (textType, bool) {
	media, _, _ := strings.Cut(contentType, ";") // mime.ParseMediaType fails on an invalid parameter
	media = strings.ToLower(strings.TrimSpace(media))
	if !strings.Contains(media, "/") {
		media, _, _ = strings.Cut(http.DetectContentType(raw), ";")
		if media == "text/plain" {
			media = "text/html"
		}
	}
	switch {
	case media == "text/html", media == "application/xhtml+xml":
		return kindHTML, true
	case media == "text/xml", media == "application/xml", strings.HasSuffix(media, "+xml"):
		return kindXML, true
	case media == "application/json", strings.HasSuffix(media, "+json"):
		return kindJSON, true
	}
	return kindPlain, strings.HasPrefix(media, "text/")
}

// pickEncoding returns the encoding of a body; nil = UTF-8.
func pickEncoding(raw []byte, contentType string, kind textType, cutShort bool) encoding.Encoding {
	// Three bytes are enough for a byte order mark, and leave nothing for DetermineEncoding to guess from.
	if enc, name, certain := charset.DetermineEncoding(raw[:min(len(raw), 3)], contentType); certain {
		if name == "utf-8" {
			return nil
		}
		return enc
	}
	whole := raw
	if cutShort {
		whole = trimPartial(raw)
	}
	switch kind {
	case kindJSON:
		return nil // RFC 8259, 8.1
	case kindHTML:
		if enc, name := metaEncoding(raw); enc != nil && !looksUTF8(whole) {
			return declared(enc, name)
		}
	}
	if m := xmlDeclaration.FindSubmatch(raw[:min(len(raw), 1024)]); m != nil {
		if enc, name := charset.Lookup(string(m[1])); enc != nil {
			return declared(enc, name)
		}
	}
	if kind == kindXML || utf8.Valid(whole) {
		return nil
	}
	return charmap.Windows1252
}

// declared returns the encoding that a body declares about itself; nil = UTF-8. A declaration that was readable as ASCII
// cannot be UTF-16, so that counts as UTF-8 (WHATWG HTML, 13.2.3.2).
func declared(enc encoding.Encoding, name string) encoding.Encoding {
	if name == "utf-8" || strings.HasPrefix(name, "utf-16") {
		return nil
	}
	return enc
}

// looksUTF8 reports whether a body is UTF-8 despite a meta tag with another charset. Programs that save pages often leave
// a wrong tag. A few characters of another charset may be valid UTF-8 by chance, but not this many.
func looksUTF8(b []byte) bool {
	return utf8.Valid(b) && utf8.RuneCount(b)+minExtraBytes < len(b)
}

// minExtraBytes counts bytes beyond one per character: 16 accented letters, or 8 Chinese characters.
const minExtraBytes = 16

// metaEncoding returns the encoding of the first meta tag with a known charset.
func metaEncoding(raw []byte) (encoding.Encoding, string) {
	z := html.NewTokenizer(bytes.NewReader(raw[:min(len(raw), metaScanLimit)]))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return nil, ""
		case html.StartTagToken, html.SelfClosingTagToken:
			if tag, _ := z.TagName(); string(tag) != "meta" {
				continue
			}
			attr := readAttributes(z)
			label := attr.charset
			if m := charsetParam.FindStringSubmatch(attr.content); label == "" && m != nil &&
				strings.EqualFold(attr.httpEquiv, "content-type") {
				label = m[1]
			}
			if enc, name := charset.Lookup(label); enc != nil {
				return enc, name
			}
		}
	}
}

// declareUTF8 changes the encoding of an XML declaration to UTF-8, so that a parser does not convert a second time.
func declareUTF8(b []byte) []byte {
	m := xmlDeclaration.FindSubmatchIndex(b[:min(len(b), 1024)])
	if m == nil || bytes.EqualFold(b[m[2]:m[3]], []byte("utf-8")) {
		return b
	}
	out := make([]byte, 0, len(b)+5)
	out = append(out, b[:m[2]]...)
	out = append(out, "UTF-8"...)
	return append(out, b[m[3]:]...)
}

// trimPartial removes an incomplete UTF-8 character at the end.
func trimPartial(b []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax-1, len(b)); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}
