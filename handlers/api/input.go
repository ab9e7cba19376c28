package api

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"github.com/linkwatch/linkwatch/models"
	"github.com/linkwatch/linkwatch/models/links"
)

// LinkPath names a link.
type LinkPath struct {
	ID string `path:"id" doc:"The link's id"`
}

// TagPath names a tag.
type TagPath struct {
	TagID string `path:"tag_id" doc:"The tag's id"`
}

// LinkTagPath names a tag on a link.
type LinkTagPath struct {
	LinkPath
	TagPath
}

// PageParams ask for a page of a list of the links family.
type PageParams struct {
	Page    int `query:"page" default:"1" minimum:"1" doc:"Counts from 1"`
	PerPage int `query:"per_page" default:"30" minimum:"1" doc:"Above 100 is served as 100"`
}

func (p PageParams) page() (models.Page, error) { return models.NewPage(p.Page, p.PerPage) }

// ShownParam chooses links by their expiry.
type ShownParam struct {
	Expired string `query:"expired" example:"all" doc:"true: expired links only; all: these too; default: active ones only"`
}

// FilterParams choose links.
type FilterParams struct {
	ShownParam
	Health string `query:"health" example:"dead" doc:"ok, moved, blocked, suspect, dead or unchecked"`
	Tag    string `query:"tag" example:"Go" doc:"The whole name of a tag, in any case"`
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

// text is a member that may be left out, or cleared by null or "".
type text struct {
	given bool
	value string
}

// UnmarshalJSON is not called for a member that is left out.
func (t *text) UnmarshalJSON(b []byte) error {
	t.given = true
	return json.Unmarshal(b, &t.value) // null leaves ""
}

// Schema is a string or null.
func (text) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Nullable: true}
}

func (t text) pointer() *string {
	if !t.given {
		return nil
	}
	return &t.value
}
