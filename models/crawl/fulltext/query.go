package fulltext

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"linkwatch/models"
)

// Limits of a query.
const (
	maxTerms  = 16
	maxTokens = 32 // per phrase
	minPrefix = 3  // runes
)

// Query is a parsed search query. The zero value matches nothing.
type Query struct {
	All []Term // the page must have all of them
	Not []Term // the page must have none of them
}

// Term is a word or a phrase.
type Term struct {
	Words  []string
	Prefix bool // the last word is a prefix
}

// Parse parses a query. A page must have all its words and "phrases". word* is a prefix of at least three letters, and
// -word a word that the page must not have. Errors are CodeInvalid for field.
func Parse(field, s string) (q Query, err error) {
	if err := models.CheckFilter(field, s); err != nil {
		return q, err
	}
	if !utf8.ValidString(s) {
		return q, models.Invalid(field, "must be UTF-8")
	}
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		not := false
		if rest, ok := strings.CutPrefix(s, "-"); ok && rest != "" && !unicode.IsSpace([]rune(rest)[0]) {
			not, s = true, rest
		}
		var raw string
		phrase := strings.HasPrefix(s, `"`)
		if phrase {
			var closed bool
			if raw, s, closed = strings.Cut(s[1:], `"`); !closed {
				return q, models.Invalid(field, `has an unclosed quote; close the phrase with "`)
			}
		} else if end := strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '"' }); end >= 0 {
			raw, s = s[:end], s[end:]
		} else {
			raw, s = s, ""
		}
		t := termOf(raw, !phrase && strings.HasSuffix(raw, "*"))
		if len(t.Words) == 0 {
			continue // punctuation only
		}
		if len(q.All)+len(q.Not) == maxTerms || len(t.Words) > maxTokens {
			return q, models.Invalid(field, "has too many words; search for fewer")
		}
		if not {
			q.Not = append(q.Not, t)
		} else {
			q.All = append(q.All, t)
		}
	}
	if len(q.All) == 0 {
		return q, models.Invalid(field, "must contain at least one word to search for")
	}
	return q, nil
}

func termOf(raw string, prefix bool) (t Term) {
	Words(raw, func(w Word) bool {
		t.Words = append(t.Words, w.Text)
		return true
	})
	if n := len(t.Words); n > 0 {
		t.Prefix = prefix && models.Runes(t.Words[n-1]) >= minPrefix
	}
	return t
}
