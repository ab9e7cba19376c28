package ui

import (
	"net/url"

	"linkwatch/models"
)

// WithQuery is a path with a query, or the path alone if q is empty.
func WithQuery(path string, q url.Values) string {
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// SetFilters adds the filters of a list that are set to its query. A filter
// longer than models.MaxFilter is left out: the page that reports it keeps it in
// its field, and not in each of its links.
func SetFilters(q url.Values, filters map[string]string) {
	for name, value := range filters {
		if value != "" && len(value) <= models.MaxFilter {
			q.Set(name, value)
		}
	}
}
