package models

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
