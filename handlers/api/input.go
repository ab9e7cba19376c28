package api

import (
	"bytes"
	"encoding/json"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"linkwatch/models"
)

// PageParams are the query parameters of lists with page numbers.
type PageParams struct {
	Page    int `query:"page" default:"1" minimum:"1" doc:"Page number, from 1"`
	PerPage int `query:"per_page" default:"30" minimum:"1" doc:"Results per page. Values over 100 are treated as 100"`
}

// Parse returns the requested page. The error has CodeInvalid.
func (p PageParams) Parse() (models.Page, error) { return models.NewPage(p.Page, p.PerPage) }

// SortParams are the query parameters for the order of a list. Sorts lists the fields in the document.
type SortParams struct {
	Sort  string `query:"sort" doc:"Field by which the list is sorted. Default: the first value"`
	Order string `query:"order" enum:"asc,desc" doc:"Direction of the order. Default: as the operation says, or as is usual for the field"`
}

// Sorting returns the order.
func (p SortParams) Sorting() models.Sorting {
	return models.Sorting{Field: p.Sort, Direction: models.Direction(p.Order)}
}

// SortedPageParams are the query parameters of lists with page numbers that can be sorted.
type SortedPageParams struct {
	PageParams
	SortParams
}

// Parse is PageParams.Parse with the order.
func (p SortedPageParams) Parse() (models.Page, error) {
	page, err := p.PageParams.Parse()
	page.Sort = p.Sorting()
	return page, err
}

// TotalParams is the query parameter that asks for the total of a list.
type TotalParams struct {
	Total bool `query:"total" doc:"Count the items on all pages, up to 10,000: total_results"`
}

// SliceParams are the query parameters of lists with page tokens.
type SliceParams struct {
	Limit     int    `query:"limit" default:"50" minimum:"1" maximum:"500" doc:"Maximum number of items to return"`
	PageToken string `query:"page_token" doc:"next_page_token of the previous page, which had the same sort and order"`
	SortParams
	TotalParams
}

// Parse returns the cursor to continue after, with what else the request wants, and the maximum number of items. The error
// has CodeInvalid.
func (p SliceParams) Parse() (after models.Cursor, limit int, err error) {
	if limit, err = models.NewLimit(p.Limit); err != nil {
		return models.Cursor{}, 0, err
	}
	after, err = models.ParseToken(p.PageToken)
	after.Want = models.Want{Sort: p.Sorting(), Total: p.Total}
	return after, limit, err
}

// Member is an optional member of a body. null clears it.
type Member[T any] struct {
	Given, Null bool // Given: the body has the member
	Value       T    // zero for null
}

// UnmarshalJSON is not called for a missing member.
func (m *Member[T]) UnmarshalJSON(b []byte) error {
	m.Given, m.Null = true, string(b) == "null"
	if _, is := any(m.Value).(time.Time); is && !m.Null {
		b = bytes.ToUpper(b) // a time may have a lower-case t and z
	}
	return json.Unmarshal(b, &m.Value)
}

// Schema returns the schema of T or null.
func (Member[T]) Schema(r huma.Registry) *huma.Schema {
	s := huma.SchemaFromType(r, reflect.TypeFor[T]())
	s.Nullable = true
	return s
}

func (Member[T]) of() reflect.Type { return reflect.TypeFor[T]() }

// Pointer returns the value, or nil if the member is missing.
func (m Member[T]) Pointer() *T {
	if !m.Given {
		return nil
	}
	return &m.Value
}

// Set changes v if the member is present.
func (m Member[T]) Set(v *T) {
	if m.Given {
		*v = m.Value
	}
}
