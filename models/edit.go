package models

// Set sets field to value unless value is nil, which means that an edit does not change it.
func Set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}
