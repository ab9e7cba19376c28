package models

// Set gives field the value of an edit, or leaves it as it is if value is nil.
func Set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}
