package models

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// CleanLine makes one line of text fit to store and show: valid UTF-8, white
// space folded to single blanks, and no control or format characters (NUL,
// zero-width ones, and the marks that turn the direction of what stands
// around them). Joiners stay, since some scripts and emoji need them.
func CleanLine(s string) string {
	return strings.Join(strings.Fields(strip(s, false)), " ")
}

// CleanText is CleanLine for text of many lines: line ends and tabs stay.
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

// Truncate is s cut to n runes.
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

// FoldName is a name in the form in which names are compared: CleanLine,
// compatibility characters replaced by plain ones, case folded.
func FoldName(s string) string {
	s = CleanLine(s)
	if IsASCII(s) {
		return strings.ToLower(s)
	}
	return CleanLine(norm.NFKC.String(foldCase(norm.NFKC.String(s))))
}

// foldCase makes the two cases of a letter one, as Unicode says. (The library
// swaps those of Cherokee instead, whose letters fold to upper case.)
func foldCase(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cherokee, r) {
			return unicode.ToUpper(r)
		}
		return r
	}, cases.Fold().String(s))
}

// Fold is text in the form in which it is searched: FoldName without the
// accents of Latin, Greek and Cyrillic letters, so that "cafe" finds "Café".
func Fold(s string) string {
	s = FoldName(s)
	if IsASCII(s) {
		return s
	}
	s = strings.Map(func(r rune) rune {
		if r >= 0x300 && r <= 0x36f { // combining diacritical marks
			return -1
		}
		return r
	}, norm.NFKD.String(s))
	return CleanLine(norm.NFKC.String(s))
}

// Runes is the length of s in runes.
func Runes(s string) int { return utf8.RuneCountInString(s) }

// IsASCII reports whether s holds nothing but ASCII.
func IsASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
