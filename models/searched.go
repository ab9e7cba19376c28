package models

import (
	"fmt"
	"slices"

	"gorm.io/gorm"
)

// MaxSearched is the number of rows that a list reads at most for a filter that no index supports, such as a part of a
// text. Then it returns what it has found, and Slice.Next continues the search.
const MaxSearched = 5_000

// SearchEnd returns the position of the last row that such a list may read: the MaxSearched-th one. sql selects the columns
// of T, which are a position, of the rows of the list in its order, without the filter. more is false if there are no rows
// after it.
func SearchEnd[T any](tx *gorm.DB, sql string, args ...any) (end T, more bool, err error) {
	var last []T
	args = append(slices.Clone(args), MaxSearched-1)
	if err := tx.Raw(sql+" LIMIT 2 OFFSET ?", args...).Scan(&last).Error; err != nil {
		return end, false, fmt.Errorf("find the end of a search: %w", err)
	}
	if len(last) < 2 {
		return end, false, nil
	}
	return last[0], true, nil
}

// SearchedTo returns the page of a list that has read only the rows up to a position; the zero Cursor means all rows.
func (s Slice[T]) SearchedTo(end Cursor) Slice[T] {
	if end != (Cursor{}) && !s.More() {
		s.Next, s.Stopped = end, true
	}
	return s
}
