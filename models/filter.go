package models

import "strings"

// MaxFilter is the longest text in bytes by which a list is filtered or
// searched, and of which names are completed.
const MaxFilter = 512

// CheckFilter returns CodeInvalid at location if text is longer than MaxFilter.
// Every list checks its text filters with it before anything whose cost grows
// with the text: folding it, or matching it against each row.
func CheckFilter(location, text string) error {
	if len(text) > MaxFilter {
		return Invalid(location, "must be at most %d bytes", MaxFilter)
	}
	return nil
}

var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// EscapeLike escapes text that a LIKE pattern holds literally. The statement must
// say ESCAPE '\', which SQLite does not have by default.
func EscapeLike(text string) string { return likeEscaper.Replace(text) }
