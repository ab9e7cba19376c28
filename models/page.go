package models

import (
	"encoding/base64"
	"encoding/json"
	"time"
)

// The limits of the two list shapes.
const (
	DefaultPerPage = 30
	MaxPerPage     = 100
	DefaultLimit   = 50
	MaxLimit       = 500
	maxPage        = 10_000_000 // keeps the offset far from overflow
)

// Page asks for one page of a list that is read by page number; Number counts from
// 1. Make one with NewPage. Lists of the other shape are read by Cursor.
type Page struct{ Number, Size int }

// NewPage checks a page. A zero number is 1, a zero size DefaultPerPage, and a size
// above MaxPerPage is MaxPerPage.
func NewPage(number, size int) (Page, error) {
	if number == 0 {
		number = 1
	}
	if size == 0 {
		size = DefaultPerPage
	}
	if number < 1 || number > maxPage {
		return Page{}, Invalid("query.page", "must be a whole number from 1 to %d", maxPage)
	}
	if size < 1 {
		return Page{}, Invalid("query.per_page", "must be a whole number from 1; above %d is served as %d", MaxPerPage, MaxPerPage)
	}
	return Page{number, min(size, MaxPerPage)}, nil
}

// Offset is how many rows stand before the page.
func (p Page) Offset() int { return (p.Number - 1) * p.Size }

// List is one page of results and the size of the whole.
type List[T any] struct {
	Page
	Total             int
	TotalIsLowerBound bool // there are more results than Total
	Items             []T
}

// Pages returns the number of pages that Total results take. Further pages may
// follow if Total is a lower bound.
func (l List[T]) Pages() int { return (l.Total + l.Size - 1) / l.Size }

// Cursor is a place in a list in the order (created_at, id): the last item
// that the caller has seen. The zero Cursor is the start.
type Cursor struct {
	CreatedAt Time
	ID        string
	Priority  int // of the item, in lists that begin with the highest priority; else 0
}

// cursorJSON is the token's content.
type cursorJSON struct {
	CreatedAt time.Time `json:"created_at"`
	ID        string    `json:"id"`
	Priority  int       `json:"priority,omitempty"`
}

// ErrPageToken is the error of a page token that a list has not issued.
var ErrPageToken = Invalid("query.page_token", "is not a token of this list; leave it out to start at the first page")

const maxToken = 512 // bytes; a real one has about 110

// Token is the page token of a cursor: Base64 of JSON. The token of
// the zero Cursor is "".
func (c Cursor) Token() string {
	if c == (Cursor{}) {
		return ""
	}
	b, err := json.Marshal(cursorJSON{c.CreatedAt.Time, c.ID, c.Priority})
	if err != nil { // a year beyond 9999 cannot be marshalled, nor stored by us
		return ""
	}
	return base64.URLEncoding.EncodeToString(b)
}

// ParseToken reads a page token, or returns ErrPageToken. It takes the URL-safe and the standard
// alphabet of Base64, since clients build tokens by either.
func ParseToken(s string) (Cursor, error) {
	if s == "" {
		return Cursor{}, nil
	}
	if len(s) > maxToken {
		return Cursor{}, ErrPageToken
	}
	b, err := base64.URLEncoding.DecodeString(s)
	if err != nil {
		if b, err = base64.StdEncoding.DecodeString(s); err != nil {
			return Cursor{}, ErrPageToken
		}
	}
	var c cursorJSON
	if err := json.Unmarshal(b, &c); err != nil || c.ID == "" || c.CreatedAt.IsZero() {
		return Cursor{}, ErrPageToken
	}
	return Cursor{At(c.CreatedAt), c.ID, c.Priority}, nil
}

// Slice is one page of a list that is read by cursor. Next is the zero Cursor
// at the end.
type Slice[T any] struct {
	Items []T
	Next  Cursor
}

// More says whether there is a next page.
func (s Slice[T]) More() bool { return s.Next != Cursor{} }

// NewSlice is a page of at most limit items out of a query for one more than
// that, which tells whether there is a next page. at is the place of an item.
func NewSlice[T any](items []T, limit int, at func(T) Cursor) Slice[T] {
	if len(items) <= limit {
		return Slice[T]{Items: items}
	}
	return Slice[T]{Items: items[:limit], Next: at(items[limit-1])}
}

// NewLimit checks the limit of a list that is read by Cursor: from 1 to MaxLimit.
// Zero is DefaultLimit.
func NewLimit(n int) (int, error) {
	if n == 0 {
		return DefaultLimit, nil
	}
	if n < 1 || n > MaxLimit {
		return 0, Invalid("query.limit", "must be a whole number from 1 to %d", MaxLimit)
	}
	return n, nil
}
