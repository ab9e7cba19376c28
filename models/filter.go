package models

import "strings"

// MaxFilter is the longest filter or search text, in bytes.
const MaxFilter = 512

// CheckFilter returns CodeInvalid at location if text is longer than MaxFilter. Every list calls it before work
// whose cost grows with the text, such as folding it or matching it against each row.
func CheckFilter(location, text string) error {
	if len(text) > MaxFilter {
		return TooLong(location, MaxFilter, "bytes")
	}
	return nil
}

var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// EscapeLike escapes text for literal use in a LIKE pattern. The statement must have ESCAPE '\', which is not
// SQLite's default.
func EscapeLike(text string) string { return likeEscaper.Replace(text) }
