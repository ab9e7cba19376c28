package ui

import (
	"net/url"

	"linkwatch/models"
)

// WithQuery adds a query to a path.
func WithQuery(path string, q url.Values) string {
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// SetFilters adds the non-empty filters to a query. Filters longer than models.MaxFilter are not
// added: the list rejects them, and they would make each link of the page longer.
func SetFilters(q url.Values, filters map[string]string) {
	for name, value := range filters {
		if value != "" && len(value) <= models.MaxFilter {
			q.Set(name, value)
		}
	}
}
