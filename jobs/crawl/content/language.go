package content

import (
	"strings"

	"github.com/abadojack/whatlanggo"
)

const (
	detectRunes = 600 // of the text that the language is detected from
	detectWords = 20  // with fewer the result is a guess
)

// languageOf returns the language of a text of so many words that its page declares to be in another.
func languageOf(text string, words int, declared string) string {
	if words >= detectWords {
		if info := whatlanggo.Detect(firstRunes(text, detectRunes)); info.IsReliable() {
			if code := info.Lang.Iso6391(); code != "" {
				return code
			}
			return info.Lang.Iso6393()
		}
	}
	primary, _, _ := strings.Cut(strings.ToLower(declared), "-")
	if len(primary) < 2 || len(primary) > 3 || strings.Trim(primary, "abcdefghijklmnopqrstuvwxyz") != "" {
		return ""
	}
	return primary
}

// firstRunes returns the first n runes of a text.
func firstRunes(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}
