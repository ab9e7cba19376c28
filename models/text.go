package models

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// CleanLine cleans one line of text: valid UTF-8, single spaces, and no control or format characters (NUL,
// zero-width characters, direction marks). Joiners are kept, since some scripts and emoji need them.
func CleanLine(s string) string {
	return strings.Join(strings.Fields(strip(s, false)), " ")
}

// CleanText is like CleanLine for text of several lines: line breaks and tabs are kept.
func CleanText(s string) string {
	return strings.TrimSpace(strip(strings.ReplaceAll(s, "\r\n", "\n"), true))
}

func strip(s string, lines bool) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\u200c', r == '\u200d': // joiners
			return r
		case r == '\n', r == '\t':
			if lines {
				return r
			}
			return ' '
		case r == '\r', r == '\v', r == '\f', r == '\u0085':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, s)
}

// Truncate returns at most the first n runes of s.
func Truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// FoldName returns the form in which names are compared: CleanLine, with compatibility characters replaced, case folded
// and without characters that are Ignored. A name of nothing else keeps them.
func FoldName(s string) string {
	s = CleanLine(s)
	if IsASCII(s) {
		return strings.ToLower(s)
	}
	s = norm.NFKC.String(s)
	if bare := without(s, Ignored); len(bare) < len(s) && strings.TrimSpace(bare) != "" {
		s = norm.NFKC.String(bare)
	}
	return CleanLine(norm.NFKC.String(foldCase(s)))
}

// Ignored reports whether names and searches ignore a character: people do not see it, or usually do not write it. These
// are variation selectors ("❤\ufe0f" is "❤"), the other invisible characters that are default ignorable
// (https://www.unicode.org/reports/tr44/#Default_Ignorable_Code_Point), except joiners, and the nonspacing marks and
// the tatweel of Arabic and Hebrew. Hamza and madda are parts of letters, so they count.
func Ignored(r rune) bool {
	switch {
	case r < 0x34f:
		return false
	case r == 0x640, 0x64b <= r && r <= 0x652, r == 0x670: // characters that other scripts use, too
		return true
	}
	return unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) ||
		unicode.In(r, unicode.Arabic, unicode.Hebrew) && unicode.Is(unicode.Mn, r)
}

func without(s string, drop func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if drop(r) {
			return -1
		}
		return r
	}, s)
}

// foldCase folds the case of letters as Unicode does. The library swaps the cases of Cherokee, whose letters fold
// to upper case.
func foldCase(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cherokee, r) {
			return unicode.ToUpper(r)
		}
		return r
	}, cases.Fold().String(s))
}

// Fold returns the form in which text is searched: FoldName without the accents of Latin, Greek and Cyrillic
// letters, so that "cafe" finds "Café". It is "" if all characters are accents or Ignored.
func Fold(s string) string {
	s = FoldName(s)
	if IsASCII(s) {
		return s
	}
	s = without(norm.NFKD.String(s), func(r rune) bool {
		return r >= 0x300 && r <= 0x36f || Ignored(r) // the first are combining diacritical marks
	})
	return CleanLine(norm.NFKC.String(s))
}

// Runes returns the number of runes in s.
func Runes(s string) int { return utf8.RuneCountInString(s) }

// IsASCII reports whether s has only ASCII characters.
func IsASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
