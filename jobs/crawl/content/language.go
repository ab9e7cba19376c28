package content

import (
	"strings"

	"github.com/abadojack/whatlanggo"
)

const (
	detectRunes  = 500 // used to detect the language
	confirmRunes = 250 // used to confirm the declared language
	detectWords  = 20  // with fewer words the result is unreliable
)

// common are the languages that the declared one is compared with.
var common = []whatlanggo.Lang{whatlanggo.Eng, whatlanggo.Deu, whatlanggo.Fra, whatlanggo.Spa, whatlanggo.Rus}

// languageOf returns the language of a text with a number of words and a declared language. Comparing a text with all languages
// takes longer than the rest of Extract, so the text is first compared with the declared and the most common ones.
func languageOf(text string, words int, declared string) string {
	primary := primaryTag(declared)
	if words < detectWords {
		return primary
	}
	if claimed, ok := byTag[primary]; ok {
		candidates := map[whatlanggo.Lang]bool{claimed: true}
		for _, l := range common {
			candidates[l] = true
		}
		if info := whatlanggo.DetectWithOptions(firstRunes(text, confirmRunes), whatlanggo.Options{Whitelist: candidates}); info.Lang == claimed && info.IsReliable() {
			return primary
		}
	}
	if info := whatlanggo.Detect(firstRunes(text, detectRunes)); info.IsReliable() {
		return tagOf(info.Lang)
	}
	return primary
}

// byTag maps tags to the languages that can be detected.
var byTag = func() map[string]whatlanggo.Lang {
	all := map[string]whatlanggo.Lang{}
	for l := range whatlanggo.Langs {
		all[tagOf(l)] = l
	}
	return all
}()

// tagOf returns the ISO 639-1 code of a language, or its ISO 639-3 code if it has none.
func tagOf(l whatlanggo.Lang) string {
	if code := l.Iso6391(); code != "" {
		return code
	}
	return l.Iso6393()
}

// primaryTag returns the language subtag of a tag such as en-GB in lower case, or "" if the tag is invalid.
func primaryTag(tag string) string {
	primary, _, _ := strings.Cut(strings.ToLower(tag), "-")
	if len(primary) < 2 || len(primary) > 3 || strings.Trim(primary, "abcdefghijklmnopqrstuvwxyz") != "" {
		return ""
	}
	return primary
}

func firstRunes(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}
