package content

import (
	"strings"

	"github.com/abadojack/whatlanggo"
)

const (
	detectRunes  = 500 // of the text that the language is detected from
	confirmRunes = 250 // of the text that confirms the declared language
	detectWords  = 20  // with fewer the result is a guess
)

// common are the languages that a declared one is compared with.
var common = []whatlanggo.Lang{whatlanggo.Eng, whatlanggo.Deu, whatlanggo.Fra, whatlanggo.Spa, whatlanggo.Rus}

// languageOf returns the language of a text of so many words that its page declares to be in another. Comparing a text with
// all languages costs more than all else of Extract, so it is first compared with the declared and the most common ones.
func languageOf(text string, words int, declared string) string {
	primary := primaryTag(declared)
	if words < detectWords {
		return primary
	}
	if said, ok := byTag[primary]; ok {
		few := map[whatlanggo.Lang]bool{said: true}
		for _, l := range common {
			few[l] = true
		}
		if info := whatlanggo.DetectWithOptions(firstRunes(text, confirmRunes), whatlanggo.Options{Whitelist: few}); info.Lang == said && info.IsReliable() {
			return primary
		}
	}
	if info := whatlanggo.Detect(firstRunes(text, detectRunes)); info.IsReliable() {
		return tagOf(info.Lang)
	}
	return primary
}

// byTag are the languages that can be detected, by their tags.
var byTag = func() map[string]whatlanggo.Lang {
	all := map[string]whatlanggo.Lang{}
	for l := range whatlanggo.Langs {
		all[tagOf(l)] = l
	}
	return all
}()

// tagOf returns the ISO 639-1 code of a language, or that of ISO 639-3 if it has none.
func tagOf(l whatlanggo.Lang) string {
	if code := l.Iso6391(); code != "" {
		return code
	}
	return l.Iso6393()
}

// primaryTag returns the language of a tag such as en-GB in lower case, or "" if it is none.
func primaryTag(tag string) string {
	primary, _, _ := strings.Cut(strings.ToLower(tag), "-")
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
