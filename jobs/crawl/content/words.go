package content

import (
	"unicode"
	"unicode/utf8"
)

// spaceless are the scripts without spaces between words.
var spaceless = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// countWords counts words: sequences between spaces with a letter or digit, and each letter of a script without spaces.
func countWords(text string) (n int) {
	in := false // inside a counted word
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			i++
			switch {
			case c <= ' ':
				in = false
			case !in && ('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'):
				in = true
				n++
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		switch {
		case !unicode.IsLetter(r) && !unicode.IsNumber(r):
			in = in && !unicode.IsSpace(r)
		case r >= 0x0E00 && unicode.In(r, spaceless...):
			in = false
			n++
		case !in:
			in = true
			n++
		}
	}
	return n
}
