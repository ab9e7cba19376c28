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

// lateMeta is how far a <meta charset> is looked for. Browsers scan 1024 bytes before they parse, and obey a later one
// as well (WHATWG HTML, "changing the encoding while parsing").
const lateMeta = 64 << 10

// toUTF8 converts a text body to UTF-8 and removes its byte order mark; other content stays as it is. The charset is
// the byte order mark's, else the header's, else the page's own (WHATWG HTML, 13.2.3; see plainlyUTF8 for the
// exception), else UTF-8 if the body is that, else windows-1252. cutShort says that the body may end inside a character.
// The result is valid UTF-8 of at most limit bytes, and raw itself if nothing had to be changed; cut tells that it had
// to be shortened, as conversion may double a body.
func toUTF8(raw []byte, contentType string, cutShort bool, limit int64) (out []byte, cut bool) {
	kind, isText := textKind(raw, contentType)
	if !isText {
		return raw, false
	}
	enc := pickEncoding(raw, contentType, kind, cutShort)
	if enc == nil {
		out = raw
	} else {
		// Room for a body that doubles is rarely too little, and found too little it would be copied over and over.
		most := limit + utf8.UTFMax
		text := bytes.NewBuffer(make([]byte, 0, min(2*int64(len(raw)), most)+bytes.MinRead))
		// The decoders of x/text replace what they cannot decode, so reading from memory does not fail.
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

// textKind says whether, and how, a body is text. Without a usable Content-Type its first bytes decide, and text is
// then taken for HTML.
func textKind(raw []byte, contentType string) (textType, bool) {
	media, _, _ := strings.Cut(contentType, ";") // mime.ParseMediaType gives up on a type with a broken parameter
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

// pickEncoding returns nil for UTF-8.
func pickEncoding(raw []byte, contentType string, kind textType, cutShort bool) encoding.Encoding {
	// Three bytes hold a byte order mark; what DetermineEncoding guesses besides that and the header is not asked for.
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
		if enc, name := metaEncoding(raw); enc != nil && !plainlyUTF8(whole) {
			return notUTF8(enc, name)
		}
	}
	if m := xmlDeclaration.FindSubmatch(raw[:min(len(raw), 1024)]); m != nil {
		if enc, name := charset.Lookup(string(m[1])); enc != nil {
			return notUTF8(enc, name)
		}
	}
	if kind == kindXML || utf8.Valid(whole) {
		return nil
	}
	return charmap.Windows1252
}

// notUTF8 is for a declaration inside the body: it was readable as ASCII, so a page that claims UTF-16 there is taken
// for UTF-8, as WHATWG HTML 13.2.3.2 says.
func notUTF8(enc encoding.Encoding, name string) encoding.Encoding {
	if name == "utf-8" || strings.HasPrefix(name, "utf-16") {
		return nil
	}
	return enc
}

// plainlyUTF8 tells a body that is UTF-8 whatever its meta tag says, such as a page saved or rewritten by a program
// that left the tag alone. In other charsets a few characters may pass for UTF-8 by chance, this many do not.
func plainlyUTF8(b []byte) bool {
	return utf8.Valid(b) && utf8.RuneCount(b)+manyCharacters < len(b)
}

// manyCharacters is in bytes beyond one per character: 16 letters with an accent, or 8 of Chinese.
const manyCharacters = 16

// metaEncoding looks for the first meta tag that names a charset.
func metaEncoding(raw []byte) (encoding.Encoding, string) {
	z := html.NewTokenizer(bytes.NewReader(raw[:min(len(raw), lateMeta)]))
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

// declareUTF8 makes an XML declaration say what is now true, so that a parser does not convert a second time.
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

// trimPartial drops an incomplete UTF-8 character at the end.
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
