package outbound

import (
	"bufio"
	"bytes"
	"errors"
	stdhtml "html"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// Limits of XMLTokens.
const (
	maxXMLToken      = 1 << 20 // bytes
	maxXMLAttributes = 256     // per tag
	maxXMLEntity     = 64      // bytes of a name or number
)

// Errors of XMLTokens.
var (
	ErrXMLToken      = errors.New("outbound: an XML tag or text is too long")
	ErrXMLAttributes = errors.New("outbound: an XML tag has too many attributes")
)

// XMLTokens splits a document in UTF-8 into tags and texts. The document need not be well-formed: XML 1.1, junk before
// the declaration, control characters, -- in comments, ]]> and unescaped & in texts, unquoted attributes and undeclared
// prefixes are accepted. Nesting is not checked. A DOCTYPE is skipped with its internal subset, and its entities are
// not expanded.
//
// It uses the HTML tokenizer, which holds one token of at most 1 MiB in memory. encoding/xml does not limit tokens, is
// strict and is four times slower.
type XMLTokens struct {
	r      io.Reader
	z      *html.Tokenizer
	attrs  [][2]string // of the current tag, once read
	read   bool        // attrs has been read
	err    error
	subset bool   // inside the internal subset of a DOCTYPE
	end    string // of the text that was cut at maxXMLToken
	tail   []byte // bytes of that text in which the end, or the next tag, may begin; nil = it was not cut
}

// NewXMLTokens returns the tokens of a document.
func NewXMLTokens(r io.Reader) *XMLTokens {
	x := &XMLTokens{}
	x.reset(r)
	return x
}

func (x *XMLTokens) reset(r io.Reader) {
	x.r, x.z, x.tail = r, html.NewTokenizer(r), nil
	x.z.SetMaxBuf(maxXMLToken)
	x.z.AllowCDATA(true)
}

// Next returns the type of the next token. html.ErrorToken means that there is none; see Err. CDATA sections are texts,
// and declarations and processing instructions are comments.
func (x *XMLTokens) Next() html.TokenType {
	x.attrs, x.read = x.attrs[:0], false
	kind := x.z.Next()
	for x.subset && kind != html.ErrorToken { // its declarations look like tags and comments
		x.subset = kind != html.TextToken || !endsSubset(x.z.Raw())
		kind = x.z.Next()
	}
	raw := x.z.Raw()
	switch kind {
	case html.StartTagToken, html.SelfClosingTagToken:
		x.z.NextIsNotRawText() // otherwise <title/> would hide the rest
		// A tag with very many attributes makes the tokenizer slow for all later tags.
		if len(raw) > 2*maxXMLAttributes && len(x.attributes()) > maxXMLAttributes {
			x.err = ErrXMLAttributes
			return html.ErrorToken
		}
	case html.DoctypeToken:
		_, subset, found := bytes.Cut(raw, []byte("["))
		x.subset = found && !endsSubset(subset)
	case html.TextToken, html.CommentToken:
		if len(raw) >= maxXMLToken {
			x.cut(raw)
		}
	case html.ErrorToken, html.EndTagToken:
	}
	return kind
}

// endsSubset reports whether an internal subset ends in b.
func endsSubset(b []byte) bool {
	for {
		_, after, found := bytes.Cut(b, []byte("]"))
		if !found {
			return false
		}
		if b = bytes.TrimLeft(after, " \t\r\n"); bytes.HasPrefix(b, []byte(">")) {
			return true
		}
	}
}

// cut remembers where a text of maxXMLToken bytes ends, for Skip.
func (x *XMLTokens) cut(raw []byte) {
	x.tail = bytes.Clone(raw[len(raw)-len("]]>"):])
	switch {
	case bytes.HasPrefix(raw, cdataStart):
		x.end = "]]>"
	case bytes.HasPrefix(raw, []byte("<!--")):
		x.end = "-->"
	case raw[0] == '<' && (raw[1] == '!' || raw[1] == '?'):
		x.end = ">"
	default:
		x.end = ""
		x.tail = x.tail[max(0, bytes.LastIndexByte(x.tail, '<')):]
		if x.tail[0] != '<' {
			x.tail = x.tail[:0]
		}
	}
}

// Skip continues after a text, CDATA section or comment that is too long, and of which Next has returned the start. It
// reports whether Next can be called again. If not, Err still returns why.
func (x *XMLTokens) Skip() bool {
	if x.tail == nil || !errors.Is(x.Err(), ErrXMLToken) {
		return false
	}
	rest := bufio.NewReader(io.MultiReader(bytes.NewReader(append(x.tail, x.z.Buffered()...)), x.r))
	for last := []byte{}; !bytes.HasSuffix(last, []byte(x.end)); {
		c, err := rest.ReadByte()
		if err != nil {
			break // Next returns it too
		}
		last = append(last[:copy(last, last[max(0, len(last)-len(x.end)+1):])], c)
	}
	x.reset(rest)
	return true
}

// Err returns why Next returned html.ErrorToken: io.EOF at the end of the document, ErrXMLToken, ErrXMLAttributes, or
// an error of the reader.
func (x *XMLTokens) Err() error {
	if x.err != nil {
		return x.err
	}
	if err := x.z.Err(); !errors.Is(err, html.ErrBufferExceeded) {
		return err
	}
	return ErrXMLToken
}

// Raw returns the current token. It is valid until the next call of a method.
func (x *XMLTokens) Raw() []byte { return x.z.Raw() }

// Name returns the name of the current tag as it is written, with its prefix.
func (x *XMLTokens) Name() []byte {
	raw := x.z.Raw()[1:]
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

// Attribute returns the value of the first attribute with a name of the current start tag; "" = none. The name is in
// lower case and matches in any case.
func (x *XMLTokens) Attribute(name string) string {
	for _, a := range x.attributes() {
		if a[0] == name {
			return a[1]
		}
	}
	return ""
}

func (x *XMLTokens) attributes() [][2]string {
	for !x.read {
		key, value, more := x.z.TagAttr()
		if key != nil {
			x.attrs = append(x.attrs, [2]string{string(key), string(value)})
		}
		x.read = !more
	}
	return x.attrs
}

// IsHTML reports whether the current token is the DOCTYPE of an HTML page.
func (x *XMLTokens) IsHTML() bool {
	words := bytes.FieldsFunc(x.z.Raw(), func(r rune) bool { return unicode.IsSpace(r) || r == '>' })
	return len(words) > 1 && bytes.EqualFold(words[0], []byte("<!doctype")) && bytes.EqualFold(words[1], []byte("html"))
}

// SplitXMLName returns the prefix and the local part of the name of a tag.
func SplitXMLName(name []byte) (prefix, local []byte) {
	if i := bytes.IndexByte(name, ':'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return nil, name
}

var (
	cdataStart = []byte("<![CDATA[")
	cdataEnd   = []byte("]]>")
)

// AppendXMLText appends a text or CDATA section to b and resolves its references: numeric ones, the five of XML, and
// those of HTML. An & without a reference is kept, because it is often not escaped. Other references are kept as text,
// or dropped if they are numeric. defined reports whether XML defines all references.
func AppendXMLText(b, raw []byte) (out []byte, defined bool) {
	if text, found := bytes.CutPrefix(raw, cdataStart); found {
		return append(b, bytes.TrimSuffix(text, cdataEnd)...), true
	}
	defined = true
	for {
		at := bytes.IndexByte(raw, '&')
		if at < 0 {
			return append(b, raw...), defined
		}
		b = append(b, raw[:at]...)
		raw = raw[at+1:]
		name := referenceName(raw)
		if name == nil {
			b = append(b, '&')
			continue
		}
		raw = raw[len(name)+1:]
		text, inXML := reference(name)
		b, defined = append(b, text...), defined && inXML
	}
}

var xmlEntities = map[string]string{"amp": "&", "lt": "<", "gt": ">", "quot": `"`, "apos": "'"}

// reference returns the text of a reference, and whether XML defines it.
func reference(name []byte) (text string, inXML bool) {
	if text, inXML = xmlEntities[string(name)]; inXML {
		return text, true
	}
	if name[0] == '#' {
		digits, base := string(name[1:]), 10
		if len(digits) > 1 && digits[0]|0x20 == 'x' {
			digits, base = digits[1:], 16
		}
		n, err := strconv.ParseUint(digits, base, 31)
		if err != nil || n == 0 || !utf8.ValidRune(rune(n)) || n == 0xfffe || n == 0xffff {
			return "", false
		}
		return string(rune(n)), true
	}
	text = "&" + string(name) + ";"
	if decoded := stdhtml.UnescapeString(text); !strings.HasSuffix(decoded, ";") { // else it decoded only a part
		text = decoded
	}
	return text, false
}

// referenceName returns the name or number of the reference at the start of raw, which follows an &; nil = none. XML
// allows more names, but those are more likely part of a URL.
func referenceName(raw []byte) []byte {
	end := bytes.IndexByte(raw[:min(len(raw), maxXMLEntity+1)], ';')
	if end <= 0 {
		return nil
	}
	name := raw[:end]
	if name[0] != '#' && bytes.ContainsFunc(name, func(r rune) bool {
		return r >= utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		return nil
	}
	return name
}
