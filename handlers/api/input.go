package api

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"linkwatch/models"
	"linkwatch/models/links"
)

// LinkPath names a link.
type LinkPath struct {
	ID string `path:"id" example:"l_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the link"`
}

// TagPath names a tag.
type TagPath struct {
	TagID string `path:"tag_id" example:"g_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the tag"`
}

// LinkTagPath names a tag on a link.
type LinkTagPath struct {
	LinkPath
	TagPath
}

// PageParams ask for a page of a list of the links family.
type PageParams struct {
	Page    int `query:"page" default:"1" minimum:"1" doc:"Number of the page, from 1"`
	PerPage int `query:"per_page" default:"30" minimum:"1" doc:"Maximum number of results on a page. More than 100 is served as 100"`
}

func (p PageParams) page() (models.Page, error) { return models.NewPage(p.Page, p.PerPage) }

// ShownParam chooses links by their expiry.
type ShownParam struct {
	Expired string `query:"expired" enum:"true,recent,all,false" example:"all" doc:"true lists expired links, recent those that expired in the last 7 days, all active and expired ones. Only active links if it is left out"`
}

// FilterParams choose links.
type FilterParams struct {
	ShownParam
	Health string `query:"health" enum:"ok,moved,blocked,suspect,dead,unchecked" example:"dead" doc:"Health: ok, moved, blocked, suspect, dead or unchecked"`
	Tag    string `query:"tag" example:"Go" doc:"Name of a tag, ignoring case. At most 512 bytes"`
}

func (p FilterParams) filter() (links.Filter, error) {
	shown, err := links.ParseShown(p.Expired)
	if err != nil {
		return links.Filter{}, err
	}
	health, err := links.ParseHealth(p.Health)
	if err != nil {
		return links.Filter{}, err
	}
	return links.Filter{Tag: p.Tag, Health: health, Shown: shown}, nil
}

// SliceParams ask for a page of a list that is read by token.
type SliceParams struct {
	Limit     int    `query:"limit" default:"50" minimum:"1" maximum:"500" doc:"Maximum number of items to return"`
	PageToken string `query:"page_token" doc:"next_page_token of the previous page"`
}

func (p SliceParams) cursor() (after models.Cursor, limit int, err error) {
	if limit, err = models.NewLimit(p.Limit); err != nil {
		return models.Cursor{}, 0, err
	}
	after, err = models.ParseToken(p.PageToken)
	return after, limit, err
}

// member is a member of a body that may be left out, or cleared by null.
type member[T any] struct {
	given, null bool
	value       T // zero for null
}

// UnmarshalJSON is not called for a member that is left out.
func (m *member[T]) UnmarshalJSON(b []byte) error {
	m.given, m.null = true, string(b) == "null"
	return json.Unmarshal(b, &m.value)
}

// Schema is that of a T or null.
func (member[T]) Schema(r huma.Registry) *huma.Schema {
	s := huma.SchemaFromType(r, reflect.TypeFor[T]())
	s.Nullable = true
	return s
}

// of is what the member holds.
func (member[T]) of() reflect.Type { return reflect.TypeFor[T]() }

func (m member[T]) pointer() *T {
	if !m.given {
		return nil
	}
	return &m.value
}

// set changes v if the member was given.
func (m member[T]) set(v *T) {
	if m.given {
		*v = m.value
	}
}
