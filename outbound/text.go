package outbound

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cleanText returns untrusted text as one line: white space collapsed, hidden characters removed, invalid UTF-8 replaced, at
// most limit runes. It stops reading at the limit.
func cleanText(s string, limit int) string {
	var b strings.Builder
	space, n := false, 0
	for _, r := range s { // an invalid byte becomes U+FFFD
		if unicode.IsSpace(r) {
			space = n > 0
			continue
		}
		if hidden(r) {
			continue
		}
		if space {
			n++
		}
		if n >= limit {
			break
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// hidden reports whether r is a control or format character: NUL, zero-width characters, the byte order mark, and characters
// that change the text direction. It is false for joiners, which scripts and emoji need.
func hidden(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	return unicode.In(r, unicode.Cc, unicode.Cf) && r != '\u200C' && r != '\u200D'
}

// cleanURL trims a URL as browsers do in an attribute. It removes hidden characters, such as line breaks, and invalid UTF-8.
func cleanURL(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if hidden(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, s))
}

// visibleText collects the words of a page, with one space between them.
type visibleText struct {
	b     []byte
	space bool // a space comes before the next word
}

// separate ends a word.
func (t *visibleText) separate() { t.space = len(t.b) > 0 }

// add appends words, and reports whether there were any.
func (t *visibleText) add(words []byte) bool {
	before := len(t.b)
	for i := 0; i < len(words); {
		word := i
		for i < len(words) && ' ' < words[i] && words[i] < 0x7f {
			i++
		}
		if i > word {
			t.flush()
			t.b = append(t.b, words[word:i]...)
			continue
		}
		r, n := utf8.DecodeRune(words[i:])
		i += n
		switch {
		case unicode.IsSpace(r):
			t.separate()
		case !hidden(r):
			t.flush()
			t.b = utf8.AppendRune(t.b, r)
		}
	}
	return len(t.b) > before
}

func (t *visibleText) flush() {
	if t.space {
		t.b = append(t.b, ' ')
		t.space = false
	}
}

// cut returns at most limit bytes of the text.
func (t *visibleText) cut(limit int) string {
	b := t.b
	if len(b) > limit {
		b = trimPartial(b[:limit])
	}
	return string(bytes.TrimSuffix(b, []byte(" ")))
}

// since returns at most limit runes of the text, starting at the byte from.
func (t *visibleText) since(from, limit int) string {
	b := bytes.TrimPrefix(t.b[from:], []byte(" "))
	for end := range string(b[:min(len(b), utf8.UTFMax*limit+1)]) {
		if limit == 0 {
			b = b[:end]
			break
		}
		limit--
	}
	return string(bytes.TrimSuffix(b, []byte(" ")))
}
