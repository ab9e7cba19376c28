package api

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"linkwatch/models"
)

// PageParams ask for a page of a list of the links family.
type PageParams struct {
	Page    int `query:"page" default:"1" minimum:"1" doc:"Number of the page, from 1"`
	PerPage int `query:"per_page" default:"30" minimum:"1" doc:"Maximum number of results on a page. More than 100 is served as 100"`
}

// Parse is the page that is asked for; CodeInvalid if there can be none.
func (p PageParams) Parse() (models.Page, error) { return models.NewPage(p.Page, p.PerPage) }

// SliceParams ask for a page of a list that is read by token.
type SliceParams struct {
	Limit     int    `query:"limit" default:"50" minimum:"1" maximum:"500" doc:"Maximum number of items to return"`
	PageToken string `query:"page_token" doc:"next_page_token of the previous page"`
}

// Parse is after what, and how many items are asked for; CodeInvalid for a token
// that is none.
func (p SliceParams) Parse() (after models.Cursor, limit int, err error) {
	if limit, err = models.NewLimit(p.Limit); err != nil {
		return models.Cursor{}, 0, err
	}
	after, err = models.ParseToken(p.PageToken)
	return after, limit, err
}

// Member is a member of a body that may be left out, or cleared by null.
type Member[T any] struct {
	Given, Null bool
	Value       T // zero for null
}

// UnmarshalJSON is not called for a member that is left out.
func (m *Member[T]) UnmarshalJSON(b []byte) error {
	m.Given, m.Null = true, string(b) == "null"
	return json.Unmarshal(b, &m.Value)
}

// Schema is that of a T or null.
func (Member[T]) Schema(r huma.Registry) *huma.Schema {
	s := huma.SchemaFromType(r, reflect.TypeFor[T]())
	s.Nullable = true
	return s
}

// of is what the member holds.
func (Member[T]) of() reflect.Type { return reflect.TypeFor[T]() }

// Pointer is the value, or nil if the member was left out.
func (m Member[T]) Pointer() *T {
	if !m.Given {
		return nil
	}
	return &m.Value
}

// Set changes v if the member was given.
func (m Member[T]) Set(v *T) {
	if m.Given {
		*v = m.Value
	}
}
