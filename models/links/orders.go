package links

import (
	"slices"

	"linkwatch/models"
)

const byViews = "view_count"

// Fields are the fields by which List sorts links, the default first.
var Fields = []string{"created_at", byViews}

// checkSort returns CodeInvalid if no index has the links of a filter in an order. Views sort all active links. A search and the
// links of a tag are newest, or best, first.
func checkSort(f Filter, q Query, by models.Sorting) error {
	switch {
	case by.Field != "" && !slices.Contains(Fields, by.Field):
		return models.Invalid("query.sort", "must be created_at or view_count")
	case by.Field == byViews && (f.Tag != "" || f.Health != "" || f.Shown != ShowActive || !q.Empty()):
		return models.Invalid("query.sort", "must be created_at in a list with a filter")
	case by.Direction == "", by.Direction == models.Descending:
		return nil
	case by.Direction != models.Ascending:
		return models.Invalid("query.order", "must be asc or desc")
	case f.Tag != "" || !q.Empty() || f.Shown == ShowRecent && f.Health != "":
		return models.Invalid("query.order", "must be desc in a search")
	}
	return nil
}
