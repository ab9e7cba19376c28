package send

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"linkwatch/models"
	"linkwatch/outbound"
)

const (
	maxSaid   = 500 // characters of a response
	minSecret = 6   // bytes; shorter parts could be ordinary words
)

// said returns the response of the service in one line, without secrets.
func (c channel) said(e outbound.Exchange) string { return c.clean(plain(e.Body)) }

// anyURL matches URLs. Services may echo the message, whose links can be signed.
var anyURL = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*:\\?/\\?/[^\s"<>]*`)

// anySecret matches what looks like a secret, such as a token issued by the service during a login.
var anySecret = regexp.MustCompile(`(?i)((?:token|key|secret|password|sig)(?:=|"\s*:\s*"))[^&\s"]+`)

// clean makes a foreign text safe to store and show: one line, at most maxSaid characters, secrets replaced by “…”.
func (c channel) clean(text string) string {
	text = models.CleanLine(text)
	hidden := make([]bool, len(text)) // by byte of text
	l := newLayer(text)
	l.hide(hidden, c.secrets)
	for n := 0; n < maxDecoded && escape.MatchString(l.text); n++ {
		l = l.decode()
		l.hide(hidden, c.secrets)
	}
	var shown strings.Builder
	for i := range len(text) {
		if !hidden[i] {
			shown.WriteByte(text[i])
		} else if i == 0 || !hidden[i-1] {
			shown.WriteString("…")
		}
	}
	return models.Truncate(strings.ToValidUTF8(shown.String(), ""), maxSaid)
}

// maxDecoded is the number of nested escapes that are decoded to find secrets.
const maxDecoded = 3

// layer is a decoded text. at maps each byte offset, including the end, to the original text.
type layer struct {
	text string
	at   []int
}

func newLayer(text string) layer {
	at := make([]int, len(text)+1)
	for i := range at {
		at[i] = i
	}
	return layer{text, at}
}

// hide marks the bytes of secrets in hidden. It ignores case.
func (l layer) hide(hidden []bool, secrets []string) {
	mark := func(from, to int) {
		for i := l.at[from]; i < l.at[to]; i++ {
			hidden[i] = true
		}
	}
	folded := fold(l.text)
	for _, secret := range secrets {
		for from := 0; ; {
			i := strings.Index(folded[from:], secret)
			if i < 0 {
				break
			}
			mark(from+i, from+i+len(secret))
			from += i + len(secret)
		}
	}
	for _, m := range anyURL.FindAllStringIndex(l.text, -1) {
		mark(m[0], m[1])
	}
	for _, m := range anySecret.FindAllStringSubmatchIndex(l.text, -1) {
		mark(m[3], m[1])
	}
}

// escape matches an escaped character of URLs, HTML or JSON.
var escape = regexp.MustCompile(`(?i)%[0-9a-f]{2}|&#[0-9]{1,7};?|&#x[0-9a-f]{1,6};?|&[a-z][a-z0-9]{1,31};|\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|\\u[0-9a-f]{4}|\\["\\/]`)

// decode decodes one level of escapes.
func (l layer) decode() layer {
	var text strings.Builder
	var at []int
	end := 0
	for _, m := range escape.FindAllStringIndex(l.text, -1) {
		char := unescape(l.text[m[0]:m[1]])
		if char == l.text[m[0]:m[1]] { // unknown entity
			continue
		}
		text.WriteString(l.text[end:m[0]] + char)
		at = append(at, l.at[end:m[0]]...)
		for range len(char) {
			at = append(at, l.at[m[0]])
		}
		end = m[1]
	}
	text.WriteString(l.text[end:])
	return layer{text.String(), append(at, l.at[end:]...)}
}

// unescape decodes a match of escape.
func unescape(s string) string {
	switch s[0] {
	case '%':
		b, _ := strconv.ParseUint(s[1:], 16, 8)
		return string([]byte{byte(b)})
	case '&':
		return html.UnescapeString(s)
	}
	out := s
	_ = json.Unmarshal([]byte(`"`+s+`"`), &out)
	return out
}

// fold lower-cases ASCII letters and replaces + by a space, as in a query. It keeps the length.
func fold(s string) string {
	b := []byte(s)
	for i, c := range b {
		switch {
		case c >= 'A' && c <= 'Z':
			b[i] = c + 'a' - 'A'
		case c == '+':
			b[i] = ' '
		}
	}
	return string(b)
}

// plain returns the readable part of a response body: the message of a JSON error, the title or text of an HTML page, or the body.
func plain(body []byte) string {
	if isHTML(body) {
		return pageText(body)
	}
	var object map[string]any
	if json.Unmarshal(body, &object) != nil {
		return string(body)
	}
	for _, key := range []string{"errorDescription", "description", "message", "error", "detail"} {
		if text, ok := object[key].(string); ok && text != "" {
			return text
		}
	}
	return string(body)
}

func isHTML(body []byte) bool {
	start := bytes.ToLower(bytes.TrimLeft(body[:min(len(body), 512)], " \t\r\n\uFEFF"))
	return bytes.HasPrefix(start, []byte("<!doctype html")) || bytes.HasPrefix(start, []byte("<html")) || bytes.HasPrefix(start, []byte("<head"))
}

// pageText returns the title of an HTML page, or its text if it has none.
func pageText(body []byte) string {
	var title, text strings.Builder
	in := ""
	for t := html.NewTokenizer(bytes.NewReader(body)); ; {
		switch t.Next() {
		case html.ErrorToken:
			if s := strings.TrimSpace(title.String()); s != "" {
				return s
			}
			return text.String()
		case html.StartTagToken:
			name, _ := t.TagName()
			in = string(name)
		case html.EndTagToken:
			in = ""
		case html.TextToken:
			switch in {
			case "title":
				title.Write(t.Text())
			case "script", "style":
			default:
				text.Write(t.Text())
				text.WriteByte(' ')
			}
		}
	}
}

// secrets returns the folded parts of a channel's URL that must not be shown, raw and decoded. These are all parts except the scheme,
// the host of a server, the port and the parameter names.
func secrets(u *url.URL, more ...string) []string {
	parts := append(strings.Split(u.Path, "/"), more...)
	if u.User != nil {
		name := u.User.Username()
		password, _ := u.User.Password()
		parts = append(parts, name, password, name+":"+password, base64.StdEncoding.EncodeToString([]byte(name+":"+password)))
	}
	for _, values := range u.Query() {
		parts = append(parts, values...)
	}
	if !strings.Contains(u.Host, ".") {
		parts = append(parts, u.Host) // a key or an ID, not a server
	}
	for _, part := range parts[:len(parts):len(parts)] {
		parts = append(parts, strings.FieldsFunc(part, func(r rune) bool { return strings.ContainsRune("/-:,", r) })...)
		parts = append(parts, strings.ReplaceAll(part, "-", "/")) // as in Slack webhook URLs
	}
	for _, part := range parts[:len(parts):len(parts)] {
		parts = append(parts, models.CleanLine(part))
		l := newLayer(part)
		for range maxDecoded {
			l = l.decode()
			parts = append(parts, l.text)
		}
	}
	for i, part := range parts {
		parts[i] = fold(part)
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return len(s) < minSecret })
	slices.Sort(parts)
	return slices.Compact(parts)
}
