package links

import (
	"net/url"
	"strings"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/links"
	views "linkwatch/views/links"
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

// placeOf reads where in the list of links a request, or the address of one, is.
func placeOf(q url.Values) (views.Place, models.Page, error) {
	at := views.Place{Filter: links.Filter{Query: strings.TrimSpace(q.Get("q")), Tag: q.Get("tag")}}
	page, err := pages.PageNumber(q)
	if err != nil {
		return at, page, err
	}
	at.Page = page.Number
	if at.Health, err = links.ParseHealth(q.Get("health")); err != nil {
		return at, page, err
	}
	if at.Shown, err = links.ParseShown(q.Get("expired")); err != nil {
		return at, page, err
	}
	at.Popular = q.Get("sort") == "popular" && !at.Filtered()
	return at, page, nil
}

// tagNames splits a field of tags at its commas.
func tagNames(typed string) []string {
	var names []string
	for name := range strings.SplitSeq(typed, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}
