// Package fulltext is the search index of crawled pages: it splits texts into words, parses queries, and has the index
// tables of each database engine. Both engines index the same words, so they find the same pages.
package fulltext

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"linkwatch/models"
)

// maxWord is the maximum length of an indexed word in runes. Longer ones are rarely words.
const maxWord = 40

// Word is a folded word of a text with its position in bytes.
type Word struct {
	Text       string
	Start, End int
}

// Words calls yield for each word of a text until it returns false. A word is a run of letters and digits, folded to lower
// case without accents ("Café" is cafe) and without characters that are models.Ignored. In scripts without spaces
// between words each letter is a word, so several letters in a query are a phrase.
func Words(text string, yield func(Word) bool) {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf && !isASCIIWord(c) {
			i++
			continue
		}
		start, ascii := i, true
		var r rune
		var n int
		for i < len(text) {
			if c := text[i]; c < utf8.RuneSelf {
				if !isASCIIWord(c) {
					break
				}
				i++
				continue
			}
			r, n = utf8.DecodeRuneInString(text[i:])
			if !isWord(r) || isWordAlone(r) || i == start && models.Ignored(r) {
				break
			}
			ascii = false
			i += n
		}
		if i == start { // a rune that is a word alone, or not part of one
			i += n
			if isWordAlone(r) {
				i += variants(text[i:])
				if w := fold(text[start:i]); w != "" && !yield(Word{w, start, i}) { // a character of such a script may not be a letter
					return
				}
			}
			continue
		}
		w := text[start:i]
		if ascii {
			w = strings.ToLower(w)
		} else {
			w = fold(w)
		}
		if len(w) > maxWord {
			w = models.Truncate(w, maxWord)
		}
		if w != "" && !yield(Word{w, start, i}) {
			return
		}
	}
}

// variants returns the length of the variation selectors at the start of a text. They belong to the letter before it.
func variants(text string) int {
	return len(text) - len(strings.TrimLeftFunc(text, func(r rune) bool { return unicode.Is(unicode.Variation_Selector, r) }))
}

func isASCIIWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func isWord(r rune) bool {
	return unicode.In(r, unicode.L, unicode.Nd, unicode.M) && r != utf8.RuneError
}

// isWordAlone reports whether a letter is a word by itself.
func isWordAlone(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) && !unicode.Is(unicode.M, r)
}

// fold returns the indexed form of a word: letters and digits only, without characters that are syntax of an engine.
func fold(w string) string {
	return strings.Map(func(r rune) rune {
		if isWord(r) {
			return r
		}
		return -1
	}, models.Fold(w))
}
