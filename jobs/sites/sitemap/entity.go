package sitemap

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

const maxEntity = 64 // bytes of a name or number

var entities = map[string]byte{"amp": '&', "lt": '<', "gt": '>', "quot": '"', "apos": '\''}

// unescape appends text to b, with the five entities of XML and characters by number. A & that begins no entity stays,
// since many sitemaps do not escape it. ok is false if there is another entity: only a DOCTYPE could tell what it is.
func unescape(b, text []byte) (out []byte, ok bool) {
	ok = true
	for {
		at := bytes.IndexByte(text, '&')
		if at < 0 {
			return append(b, text...), ok
		}
		b = append(b, text[:at]...)
		text = text[at+1:]
		name, known := entityName(text)
		if name == nil {
			b = append(b, '&')
			continue
		}
		text = text[len(name)+1:]
		switch c, found := entities[string(name)]; {
		case found:
			b = append(b, c)
		case known >= 0:
			b = utf8.AppendRune(b, known)
		default:
			ok = false
		}
	}
}

// entityName is the entity with which text begins, without its semicolon; nil = none. r is its character if it is a number; else -1.
func entityName(text []byte) (name []byte, r rune) {
	end := bytes.IndexByte(text[:min(len(text), maxEntity+1)], ';')
	if end <= 0 {
		return nil, -1
	}
	name = text[:end]
	digits, base := name[:0], 10
	switch {
	case name[0] == '#' && len(name) > 2 && name[1]|0x20 == 'x':
		digits, base = name[2:], 16
	case name[0] == '#':
		digits = name[1:]
	default:
		for _, c := range name {
			if c|0x20 < 'a' || c|0x20 > 'z' {
				if c < '0' || c > '9' {
					return nil, -1
				}
			}
		}
		return name, -1
	}
	n, err := strconv.ParseUint(string(digits), base, 32)
	if err != nil || n == 0 || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
		return name, -1
	}
	return name, rune(n)
}
