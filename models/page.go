package models

// Limits of lists that are paged by number and of lists that are paged by cursor.
const (
	DefaultPerPage = 30
	MaxPerPage     = 100
	DefaultLimit   = 50
	MaxLimit       = 500
	maxPage        = 10_000_000 // keeps the offset far from overflow
)

// Page is a request for one page of a list that is paged by number. Number starts at 1. Create it with NewPage.
// Other lists are paged by Cursor.
type Page struct {
	Number, Size int
	Sort         Sorting // zero = the default order
}

// NewPage validates a page. A number of 0 means 1 and a size of 0 means DefaultPerPage. Sizes above MaxPerPage are
// reduced to it.
func NewPage(number, size int) (Page, error) {
	if number == 0 {
		number = 1
	}
	if size == 0 {
		size = DefaultPerPage
	}
	if number < 1 || number > maxPage {
		return Page{}, OutOfRange("query.page", "", 1, maxPage)
	}
	if size < 1 {
		return Page{}, Invalid("query.per_page", "must be a whole number of at least 1; values above %d count as %d", MaxPerPage, MaxPerPage)
	}
	return Page{Number: number, Size: min(size, MaxPerPage)}, nil
}

// Offset returns the number of rows before the page.
func (p Page) Offset() int { return (p.Number - 1) * p.Size }

// List is one page of results with the total number of results.
type List[T any] struct {
	Page
	Total             int
	TotalIsLowerBound bool // there are more results than Total
	Items             []T
}

// Pages returns the number of pages. There may be more if Total is a lower bound.
func (l List[T]) Pages() int { return (l.Total + l.Size - 1) / l.Size }

// Slice is one page of a list that is paged by cursor. Next is the zero Cursor on the last page.
type Slice[T any] struct {
	Items   []T
	Next    Cursor
	Stopped bool  // the list has read MaxSearched rows and found fewer items than the limit; Next continues the search
	Count   Count // of all pages, if Want.Total asks for it
}

// More reports whether there is a next page.
func (s Slice[T]) More() bool { return s.Next != Cursor{} }

// NewSlice returns a page of at most limit items. items is the result of a query for limit+1 rows, which shows
// whether there is a next page. at returns the position of an item.
func NewSlice[T any](items []T, limit int, at func(T) Cursor) Slice[T] {
	if len(items) <= limit {
		return Slice[T]{Items: items}
	}
	return Slice[T]{Items: items[:limit], Next: at(items[limit-1])}
}

// NewLimit validates the limit of a list that is paged by cursor: from 1 to MaxLimit. 0 means DefaultLimit.
func NewLimit(n int) (int, error) {
	if n == 0 {
		return DefaultLimit, nil
	}
	if n < 1 || n > MaxLimit {
		return 0, OutOfRange("query.limit", "", 1, MaxLimit)
	}
	return n, nil
}
